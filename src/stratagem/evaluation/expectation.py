"""The exact expectation of a game between players who state their probabilities, by walking all that can happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.enumeration import outcomes, starts
from stratagem.players.base import Mix, Player


@dataclass
class Expectation:
    """Means over everything that can happen in one episode."""

    payoffs: list[float]
    scaled: list[float]
    """Payoffs in units in which mutual cooperation is worth 3; equal to `payoffs` where the game has no such yardstick."""
    rounds: float = 0.0
    signals: dict[str, list[float]] = field(default_factory=dict)
    """The sum of each signal by seat, over the rounds in which it had a meaning."""
    meant: dict[str, list[float]] = field(default_factory=dict)
    """The expected number of those rounds."""

    def per_round(self, seat: Seat, *, scaled: bool = False) -> float:
        """The expected payoff a round."""
        return (self.scaled if scaled else self.payoffs)[seat] / self.rounds


class Policies:
    """The players' stated probabilities, each situation asked once."""

    def __init__(self, players: Sequence[Player]) -> None:
        self.players = players
        self._known: dict[tuple[Seat, str], Mix] = {}

    def mix(self, state: State[Any], seat: Seat) -> Mix:
        """What the player at `seat` does now, without the actions it never takes."""
        view = state.view(seat)
        key = (seat, view.info_key)
        if key not in self._known:
            mix = self.players[seat].policy(view)
            self._known[key] = {action: p for action, p in mix.items() if p > 0.0}
        return self._known[key]

    def joint(self, state: State[Any]) -> Iterator[tuple[float, dict[Seat, str]]]:
        """Every joint action of the seats to act, with its probability."""
        mixes = [self.mix(state, seat).items() for seat in state.to_act]
        for combination in product(*mixes):
            probability = 1.0
            for _, p in combination:
                probability *= p
            yield probability, {seat: action for seat, (action, _) in zip(state.to_act, combination, strict=True)}


def expected(game: Game[Any], players: Sequence[Player], budget: int = 20_000) -> Expectation:
    """The expectation of one episode with `players` by seat; `CannotCompute` after `budget` situations."""
    walker = _Walker(Policies(players), game.spec.seats, budget)
    for probability, state in starts(game):
        walker.walk(state, probability)
    return walker.total


class _Walker:
    def __init__(self, policies: Policies, seats: int, budget: int) -> None:
        self.policies = policies
        self.budget = budget
        self.total = Expectation([0.0] * seats, [0.0] * seats)

    def walk(self, state: State[Any], probability: float) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise CannotCompute(f"{state.game.spec.name} between these players has too many situations to walk them all.")
        if state.over:
            return
        for chosen, actions in self.policies.joint(state):
            for chance, after, result in outcomes(state, actions):
                weight = probability * chosen * chance
                self._add(state, result, weight)
                self.walk(after, weight)

    def _add(self, state: State[Any], result: RoundResult, weight: float) -> None:
        total = self.total
        total.rounds += weight * result.closed
        for seat, payoff in enumerate(result.payoffs):
            if payoff:
                stakes = state.stakes(seat)
                total.payoffs[seat] += weight * payoff
                total.scaled[seat] += weight * payoff * (3.0 / stakes.cooperative if stakes else 1.0)
        self._add_signals(result.signals or {}, weight)

    def _add_signals(self, signals: Mapping[str, tuple[float | None, ...]], weight: float) -> None:
        for name, values in signals.items():
            sums = self.total.signals.setdefault(name, [0.0] * len(values))
            meant = self.total.meant.setdefault(name, [0.0] * len(values))
            for seat, value in enumerate(values):
                if value is not None:
                    sums[seat] += weight * value
                    meant[seat] += weight
