"""Policies of a player at positions of a recorded game: as it states them, or as its replies show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stratagem.games.base import Seat
from stratagem.games.key import Key
from stratagem.games.talk import TalkState
from stratagem.measure.policies import Stated, stated_policies
from stratagem.players.base import Player
from stratagem.playing.dispatch import RequestQueue
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play


class AskedPosition(NamedTuple):
    """Position in which a seat is asked for its move."""

    state: TalkState
    seat: Seat
    turn: int


@dataclass(frozen=True)
class RepeatedAsker:
    """Player that is asked again and again, where it states no probabilities."""

    player: Player
    key: Key
    replies: int = 16
    """Replies to each position."""
    queue: Callable[[], RequestQueue] | None = None

    @property
    def states(self) -> bool:
        """True if the player states its probabilities."""
        return self.player.traits.exact and not self.player.traits.searches

    def mixes(self, positions: Sequence[AskedPosition], arm: str) -> list[Stated]:
        """Return its policy at each position; two arms have dice of their own."""
        if self.states:
            return stated_policies(self.player, [position.state.view(position.seat) for position in positions])
        return [shares(drawn) for drawn in self.draws(positions, arm)]

    def draws(self, positions: Sequence[AskedPosition], arm: str) -> list[list[str | None]]:
        """Return its replies to each position."""
        setups = [
            self._setup(position, f"{arm}/{place}/{number}", self.key.at(arm, place, number))
            for place, position in enumerate(positions)
            for number in range(self.replies)
        ]
        actions: dict[str, str | None] = {}
        for episode in play(setups, self.queue() if self.queue else None):
            actions[episode.id] = [row for row in episode.decisions if row.slot == 0][-1].action
        drawn = [actions[setup.id] for setup in setups]
        return [drawn[first : first + self.replies] for first in range(0, len(drawn), self.replies)]

    def _setup(self, position: AskedPosition, name: str, key: Key) -> Setup:
        """Return one turn of the position, in which the other seats are absent."""
        seats = position.state.game.spec.seats
        return Setup(
            id=name,
            match=Match(position.state.game, [self.player, *[None] * (seats - 1)]),
            slots=tuple((seat - position.seat) % seats for seat in range(seats)),
            key=key,
            purpose="probe",
            state=position.state,
            fresh_chance=True,
            turns=1,
            forked_at=position.turn,
        )


def shares(draws: Sequence[str | None]) -> dict[str | None, float]:
    """Return the share of each action among some draws."""
    return {action: count / len(draws) for action, count in Counter(draws).items()}


__all__ = ["AskedPosition", "RepeatedAsker", "shares"]
