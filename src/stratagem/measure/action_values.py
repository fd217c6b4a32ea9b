"""Action values in each situation, exactly, between players who state their probabilities.

    Q(I, a) = sum over histories h of I of  r(h) v(h a)  /  sum of r(h)

where r is the probability that chance and the others bring about h, the seat itself doing what it must, and v the
seat's expected payoff from there on. Between two players of an equilibrium these are the values that SCO-PAL's Table 5
compares its step rewards with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, State
from stratagem.measure.policies import Policies
from stratagem.players.base import Player

Pair = tuple[Seat, str, str]
"""A seat, its state key and an action."""
BUDGET = 200_000
"""Number of situations to walk."""


@dataclass
class _PairSums:
    """Numerator and denominator of every pair."""

    worth: dict[Pair, float] = field(default_factory=dict)
    reach: dict[Pair, float] = field(default_factory=dict)

    def add(self, pair: Pair, reach: float, value: float) -> None:
        self.worth[pair] = self.worth.get(pair, 0.0) + reach * value
        self.reach[pair] = self.reach.get(pair, 0.0) + reach


def action_values(game: Game[Any], players: Sequence[Player], budget: int = BUDGET) -> dict[Pair, float]:
    """Return the value of every action wherever chance and the others may lead.

    `CannotCompute` after `budget` situations.
    """
    if game.spec.simultaneous:
        raise CannotCompute(f"In {game.spec.name} seats choose at once, so no action has a value of its own.")
    policies = Policies(game, players, budget, merge=False)
    sums, seats = _PairSums(), game.spec.seats
    for chance, state in policies.starts():
        _walk(policies, state, [chance] * seats, sums)
    return {pair: sums.worth[pair] / reach for pair, reach in sums.reach.items() if reach > 0.0}


def _walk(policies: Policies, state: State[Any], reach: list[float], sums: _PairSums) -> list[float]:
    """Return the seats' expected payoffs from a state on.

    `reach[s]` is the probability of the state if seat s plays towards it.
    """
    if state.over:
        return [0.0] * len(reach)
    policies.spend()
    total = [0.0] * len(reach)
    (seat,) = state.to_act
    view, mix = state.view(seat), policies.mix(state, seat)
    for action in view.choices:
        odds = mix.get(action, 0.0)
        there = [reach_of if other == seat else reach_of * odds for other, reach_of in enumerate(reach)]
        value = _after(policies, state, {seat: action}, there, sums)
        sums.add((seat, view.state_key, action), reach[seat], value[seat])
        total = [so_far + odds * reach_of for so_far, reach_of in zip(total, value, strict=True)]
    return total


def _after(
    policies: Policies, state: State[Any], actions: dict[Seat, str | None], reach: list[float], sums: _PairSums
) -> list[float]:
    """Return the expected payoffs of a move, over all outcomes of chance."""
    total = [0.0] * len(reach)
    for chance, reached, result in policies.outcomes(state, actions):
        later = _walk(policies, reached, [reach_of * chance for reach_of in reach], sums)
        total = [so_far + chance * (now + then) for so_far, now, then in zip(total, result.payoffs, later, strict=True)]
    return total
