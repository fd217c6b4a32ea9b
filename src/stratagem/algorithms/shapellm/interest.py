"""Regret of each learner: its payoff against the others' final policies, and that of the best memory-one policy.

The best policy is searched among the 32 deterministic memory-one policies of two actions, so an unrestricted best
response may earn more. It is selected by some games and measured in others, which avoids selection bias. Where a seat
learns by exact values, all of these are exact, and no game is played.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch

from stratagem.algorithms.shapellm.metrics import CERTAIN, first_log_odds, payoff_metrics
from stratagem.algorithms.shapellm.seat import Seat
from stratagem.algorithms.shapellm.shapers.memory_one import MemoryOneGame
from stratagem.games.base import Game, Json, View
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixFacts, MatrixGame
from stratagem.play.match import Match, Setup
from stratagem.players.base import Mix, Player, Scripted, Traits
from stratagem.workers.shards import played

_ACTIONS = 2
SEARCHED = 10
"""Number of games by which a policy is selected."""


@dataclass(frozen=True)
class MemoryOne(Scripted[MatrixFacts]):
    """Deterministic memory-one player: its action depends on the last joint action."""

    traits = Traits(memory=1)
    first: int
    """Index of the action in the first round."""
    after: tuple[tuple[int, ...], ...]
    """Index of the action after each joint action: by its own action, then by the other's."""

    def strategy(self, view: View[MatrixFacts]) -> str | Mix:
        facts = view.facts
        index = self.after[facts.mine[-1]][facts.theirs[-1]] if facts.mine else self.first
        return facts.labels[index]


def all_memory_one() -> Iterator[MemoryOne]:
    """Yield all deterministic memory-one players of two actions."""
    for first, *after in product(range(_ACTIONS), repeat=1 + _ACTIONS**2):
        yield MemoryOne(first, (tuple(after[:_ACTIONS]), tuple(after[_ACTIONS:])))


def interests(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Json:
    """Return for every learning seat its payoff per step, and that of the best memory-one policy in its place."""
    if not isinstance(game, MatrixGame) or {len(game.seat_labels(seat)) for seat in (0, 1)} != {_ACTIONS}:
        return {}
    if any(seat.needs_policies for seat in seats.values()):
        return {name: _exact(game, list(seats.values()), slot) for slot, name in enumerate(seats) if seats[name].every}
    result: Json = {}
    for slot, (name, seat) in enumerate(seats.items()):
        if seat.every:
            policies = list(all_memory_one())
            earned = _pays(game, seats, slot, policies, SEARCHED, key.at("search", slot))
            best = max(range(len(policies)), key=lambda index: (earned[index], -index))
            pair = _pays(game, seats, slot, [seat.player, policies[best]], games, key.at("measure", slot))
            result[name] = {"earned": pair[0], "possible": pair[1], "first": policies[best].first}
            result[name]["after"] = policies[best].after
    return result


def _exact(game: MatrixGame, seats: Sequence[Seat], slot: int) -> Json:
    """Return the same for one seat by the exact values of memory-one policies."""
    own, other = (torch.tensor(first_log_odds(game, at, seats[at]), dtype=torch.float64) for at in (slot, 1 - slot))
    policies, values = list(all_memory_one()), MemoryOneGame.of(game, slot, 1.0)
    choices = torch.tensor([[policy.first, *policy.after[0], *policy.after[1]] for policy in policies])
    pays = values.values(CERTAIN * (1.0 - 2.0 * choices), other.expand(len(policies), -1))[0] / values.length
    best = policies[int(pays.argmax())]
    earned = values.values(own, other)[0].item() / values.length
    return {"earned": earned, "possible": pays.max().item(), "first": best.first, "after": best.after}


def _pays(
    game: MatrixGame, seats: Mapping[str, Seat], slot: int, players: Sequence[Player], games: int, key: Key
) -> list[float]:
    """Return the payoff per step of each player in a seat's place, all in the same games."""
    setups = list(_setups(game, seats, slot, players, games, key))
    episodes = played(setups)
    payoffs = []
    for number in range(len(players)):
        own = episodes[number * games : (number + 1) * games]
        payoff = payoff_metrics(own, list(seats))[f"{list(seats)[slot]}/pay"]
        payoffs.append(payoff if math.isfinite(payoff) else -math.inf)
    return payoffs


def _setups(
    game: MatrixGame, seats: Mapping[str, Seat], slot: int, players: Sequence[Player], games: int, key: Key
) -> Iterator[Setup]:
    for number, player in enumerate(players):
        others = [seat.player for seat in seats.values()]
        match = Match(game, [*others[:slot], player, *others[slot + 1 :]])
        for each in range(games):
            yield Setup(id=f"{slot}/{number}/{each}", match=match, slots=(0, 1), key=key.at("game", each))
