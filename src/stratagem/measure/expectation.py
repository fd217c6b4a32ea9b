"""Exact expectation of a game between players who state their probabilities, over every line of play."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.rounds import shares_of_rounds
from stratagem.games.safety.base import Actions, Safety, all_signals
from stratagem.games.safety.catalogue import safety_of
from stratagem.games.safety.checks import checked_stakes
from stratagem.measure.policies import Layer, Policies
from stratagem.players.base import Player

SCALE = 3.0
"""Value of mutual cooperation on the common scale of all games."""
Sums = dict[tuple[str, Seat], float]
Weights = defaultdict[int, float]


@dataclass(frozen=True)
class Expectation:
    """Means over all lines of play of one episode."""

    sums: Sums

    @property
    def rounds(self) -> float:
        """Expected number of rounds."""
        return self.sums["rounds", 0]

    def payoff(self, seat: Seat, *, scaled: bool = False) -> float:
        """Return the expected payoff of an episode."""
        return self.sums.get(("scaled" if scaled else "payoff", seat), 0.0)

    def per_round(self, seat: Seat, *, scaled: bool = False) -> float:
        """Return the expected payoff over the expected number of rounds."""
        return self.payoff(seat, scaled=scaled) / self.rounds

    def signal(self, name: str, seat: Seat) -> tuple[float, float]:
        """Return the expected sum of a signal, and the expected number of rounds in which it had a meaning."""
        return self.sums.get((name, seat), 0.0), self.sums.get((f"{name} meant", seat), 0.0)


def expected_payoffs(game: Game[Any], players: Sequence[Player], budget: int = 20_000) -> Expectation:
    """Compute the expectation of one episode with `players` by seat; `CannotCompute` after `budget` situations.

    Where rounds know nothing of each other, it is that of one round: the mean over the kinds of rounds.
    """
    if not game.spec.independent_rounds:
        return _walk_policies(Policies(game, players, budget))
    total = Sums()
    for number, share in enumerate(shares_of_rounds(game)):
        _add(total, _walk_policies(Policies(game, players, budget, round_number=number)).sums, share)
    return Expectation(total)


def _walk_policies(policies: Policies) -> Expectation:
    total, safety = Sums(), safety_of(policies.game)
    layer, weights = Layer(policies), Weights(float)
    for probability, state in policies.starts():
        weights[layer.index(state)] += probability
    while layer.states:
        layer, weights = _moved_on(policies, layer, weights, total, safety)
    return Expectation(total)


def _moved_on(
    policies: Policies, layer: Layer, weights: Weights, total: Sums, safety: Safety[Any] | None
) -> tuple[Layer, Weights]:
    """Return the situations one move later with their probabilities; rewards of the moves are added to `total`."""
    after, their_weights = Layer(policies), Weights(float)
    policies.prepare(layer.states)
    for index, state in enumerate(layer.states):
        for chosen, actions in policies.joint(state, state.to_act):
            for chance, reached, result in policies.outcomes(state, actions):
                weight = weights[index] * chosen * chance
                _add(total, _sums_of_move(safety, reached, actions, result), weight)
                if not policies.ends(reached, result):
                    their_weights[after.index(reached)] += weight
    return after, their_weights


def _sums_of_move(safety: Safety[Any] | None, state: State[Any], actions: Actions, result: RoundResult) -> Sums:
    """Return the payoffs and signals of one move; `state` is the position after it."""
    sums: Sums = {("rounds", 0): float(result.closed)}
    for seat, payoff in enumerate(result.payoffs):
        if payoff:
            stakes = checked_stakes(safety, state, seat) if safety else None
            sums["payoff", seat] = payoff
            sums["scaled", seat] = payoff * (SCALE / stakes.cooperative if stakes else 1.0)
    for name, values in all_signals(safety, state, actions, result).items():
        for seat, value in enumerate(values):
            if value is not None:
                sums[name, seat] = value
                sums[f"{name} meant", seat] = 1.0
    return sums


def _add(total: Sums, sums: Sums, weight: float) -> None:
    for name, value in sums.items():
        total[name] = total.get(name, 0.0) + weight * value
