"""How far a learner was moved against its own interest: what it earns beside what it could, against the same others.

The others are as they ended and learn no more. What the seat could earn is found among all 32 policies of two actions
that never mix and look back one round, so a best response without that bound may earn more. The best of them is chosen
by some games and measured in others, since the luckiest of many is not the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from stratagem.algorithms.shapellm.figures import paid
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.games.base import Game, Json, View
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixFacts, MatrixGame
from stratagem.play.match import Match, Setup
from stratagem.play.scheduler import played
from stratagem.players.base import Mix, Player, Scripted, Traits

_ACTIONS = 2
SEARCHED = 10
"""Games by which each policy is judged."""


@dataclass(frozen=True)
class MemoryOne(Scripted[MatrixFacts]):
    """Plays by what was played last, its own part first, and never mixes."""

    traits = Traits(memory=1)
    first: int
    """The place of the action that it begins with."""
    after: tuple[tuple[int, ...], ...]
    """The place of its action after each joint action: by its own, then by the other's."""

    def strategy(self, view: View[MatrixFacts]) -> str | Mix:
        facts = view.facts
        place = self.after[facts.mine[-1]][facts.theirs[-1]] if facts.mine else self.first
        return facts.labels[place]


def all_memory_one() -> Iterator[MemoryOne]:
    """Every policy of two actions that never mixes and looks back one round."""
    for first, *after in product(range(_ACTIONS), repeat=1 + _ACTIONS**2):
        yield MemoryOne(first, (tuple(after[:_ACTIONS]), tuple(after[_ACTIONS:])))


def interests(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Json:
    """For every seat that learns, what it earns a step and what the best memory-one policy would in its place."""
    if not isinstance(game, MatrixGame) or {len(game.seat_labels(seat)) for seat in (0, 1)} != {_ACTIONS}:
        return {}
    told: Json = {}
    for slot, (name, seat) in enumerate(seats.items()):
        if seat.every:
            policies = list(all_memory_one())
            earned = _pays(game, seats, slot, policies, SEARCHED, key.at("search", slot))
            best = max(range(len(policies)), key=lambda place: (earned[place], -place))
            pair = _pays(game, seats, slot, [seat.player, policies[best]], games, key.at("measure", slot))
            told[name] = {"earned": pair[0], "possible": pair[1], "first": policies[best].first}
            told[name]["after"] = policies[best].after
    return told


def _pays(
    game: MatrixGame, seats: Mapping[str, Seat], slot: int, players: Sequence[Player], games: int, key: Key
) -> list[float]:
    """What each of these earns a step in a seat's place, all in the same games."""
    setups = list(_setups(game, seats, slot, players, games, key))
    episodes = played(setups)
    found = []
    for number in range(len(players)):
        own = episodes[number * games : (number + 1) * games]
        pay = paid(own, list(seats))[f"{list(seats)[slot]}/pay"]
        found.append(pay if math.isfinite(pay) else -math.inf)
    return found


def _setups(
    game: MatrixGame, seats: Mapping[str, Seat], slot: int, players: Sequence[Player], games: int, key: Key
) -> Iterator[Setup]:
    for number, player in enumerate(players):
        others = [seat.player for seat in seats.values()]
        match = Match(game, [*others[:slot], player, *others[slot + 1 :]])
        for each in range(games):
            yield Setup(id=f"{slot}/{number}/{each}", match=match, slots=(0, 1), key=key.at("game", each))
