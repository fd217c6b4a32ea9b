"""Players by seat as one: each seat's decisions are those of its own player."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from stratagem.games.base import View
from stratagem.players.base import Ask, Mix, Player, Traits, Turn
from stratagem.players.members import PlayerBase, members_of

P = TypeVar("P", bound=Player)


def players_by_seat(players: Mapping[str, P], seats: Mapping[str, Collection[int]]) -> list[P]:
    """Return players in the order of a game's seats, each at all seats that stand under its name."""
    by_seat = {seat: players[name] for name, own in seats.items() for seat in own}
    return [by_seat[seat] for seat in sorted(by_seat)]


@dataclass(frozen=True)
class SeatedPlayers(PlayerBase):
    """Players in the order of a game's seats, of which figures of one policy at all seats can be computed."""

    players: tuple[Player, ...]

    @property
    def name(self) -> str:
        return " / ".join(player.name for player in self.players)

    @property
    def traits(self) -> Traits:
        """Traits of all together: what one of them needs or admits holds of all."""
        own = [player.traits for player in self.players]
        memories = [traits.memory for traits in own]
        return Traits(
            stochastic=any(traits.stochastic for traits in own),
            memory=None if None in memories else max(memory or 0 for memory in memories),
            fallible=any(traits.fallible for traits in own),
            exact=all(traits.exact for traits in own),
            price=max(traits.price for traits in own),
        )

    def turn(self, ask: Ask) -> Turn:
        return self.players[ask.view.seat].turn(ask)

    def policy(self, view: View[Any]) -> Mix:
        return members_of(self.players[view.seat]).policy(view)

    def policies(self, views: Sequence[View[Any]]) -> list[Mix]:
        """Return the probabilities in many situations, each player's in one batch."""
        told: dict[int, Mix] = {}
        for seat, player in enumerate(self.players):
            own = [number for number, view in enumerate(views) if view.seat == seat]
            if own:
                mixes = members_of(player).policies([views[number] for number in own])
                told.update(zip(own, mixes, strict=True))
        return [told[number] for number in range(len(views))]
