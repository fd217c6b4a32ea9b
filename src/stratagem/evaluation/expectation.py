"""The exact expectation of a game between players who state their probabilities, by backward induction.

Situations in which every seat's state key and the round agree are taken as one where no player looks further back than
one round; in other games the whole history counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.enumeration import outcomes, starts
from stratagem.players.base import Mix, Player

SCALE = 3.0
"""What mutual cooperation is worth on the common scale of all games."""
_DEEPEST = 200
"""The most moves in a row that an induction follows; longer games would exhaust the stack before the budget."""
Sums = dict[tuple[str, Seat], float]


class Policies:
    """The players' stated probabilities by seat, each situation asked once, and a budget of situations."""

    def __init__(self, game: Game[Any], players: Sequence[Player], budget: int) -> None:
        self.players = players
        self.budget = budget
        self.game = game
        memories = [player.traits.memory for player in players]
        self.merging = game.spec.perfect_information or all(depth is not None and depth <= 1 for depth in memories)
        self._known: dict[tuple[Seat, str], Mix] = {}

    def mix(self, state: State[Any], seat: Seat) -> Mix:
        """What the player at `seat` does now, without the actions it never takes."""
        view = state.view(seat)
        key = (seat, view.info_key)
        if key not in self._known:
            mix = self.players[seat].policy(view)
            self._known[key] = {action: p for action, p in mix.items() if p > 0.0}
        return self._known[key]

    def joint(self, state: State[Any], seats: Sequence[Seat]) -> Iterator[tuple[float, dict[Seat, str | None]]]:
        """Every joint action of these seats, with its probability."""
        for combination in product(*(self.mix(state, seat).items() for seat in seats)):
            probability = 1.0
            for _, p in combination:
                probability *= p
            yield probability, {seat: action for seat, (action, _) in zip(seats, combination, strict=True)}

    def situation(self, state: State[Any]) -> Hashable:
        """States with the same situation have the same future between these players."""
        views = [state.view(seat) for seat in range(self.game.spec.seats)]
        return state.to_act, state.round, *(view.state_key if self.merging else view.info_key for view in views)

    def spend(self, depth: int) -> None:
        """Count one more situation, and refuse when there are too many or the game is too long."""
        self.budget -= 1
        if self.budget < 0 or depth > _DEEPEST:
            what = "too long" if depth > _DEEPEST else "too large"
            raise CannotCompute(f"{self.game.spec.name} between these players is {what} to be computed exactly.")


@dataclass(frozen=True)
class Expectation:
    """Means over everything that can happen in one episode."""

    sums: Sums

    def per_round(self, seat: Seat, *, scaled: bool = False) -> float:
        """The expected payoff over the expected number of rounds."""
        return self.sums.get(("scaled" if scaled else "payoff", seat), 0.0) / self.sums["rounds", 0]

    def signal(self, name: str, seat: Seat) -> tuple[float, float]:
        """The expected sum of a signal, and the expected number of rounds in which it had a meaning."""
        return self.sums.get((name, seat), 0.0), self.sums.get((f"{name} meant", seat), 0.0)


def expected(game: Game[Any], players: Sequence[Player], budget: int = 20_000) -> Expectation:
    """The expectation of one episode with `players` by seat; `CannotCompute` after `budget` situations."""
    induction = _Induction(Policies(game, players, budget))
    total: Sums = {}
    for probability, state in starts(game):
        induction.policies.spend(0)
        _add(total, induction.sums(state, 0), probability)
    return Expectation(total)


class _Induction:
    def __init__(self, policies: Policies) -> None:
        self.policies = policies
        self._known: dict[Hashable, Sums] = {}

    def sums(self, state: State[Any], depth: int) -> Sums:
        if state.over:
            return {}
        key = self.policies.situation(state)
        if key not in self._known:
            self.policies.spend(depth)
            total: Sums = {}
            for chosen, actions in self.policies.joint(state, state.to_act):
                for chance, after, result in outcomes(state, actions):
                    _add(total, _booked(state, result), chosen * chance)
                    _add(total, self.sums(after, depth + 1), chosen * chance)
            self._known[key] = total
        return self._known[key]


def _booked(state: State[Any], result: RoundResult) -> Sums:
    """What one result adds."""
    sums: Sums = {("rounds", 0): float(result.closed)}
    for seat, payoff in enumerate(result.payoffs):
        if payoff:
            stakes = state.stakes(seat)
            sums["payoff", seat] = payoff
            sums["scaled", seat] = payoff * (SCALE / stakes.cooperative if stakes else 1.0)
    for name, values in (result.signals or {}).items():
        for seat, value in enumerate(values):
            if value is not None:
                sums[name, seat] = value
                sums[f"{name} meant", seat] = 1.0
    return sums


def _add(total: Sums, sums: Sums, weight: float) -> None:
    for name, value in sums.items():
        total[name] = total.get(name, 0.0) + weight * value
