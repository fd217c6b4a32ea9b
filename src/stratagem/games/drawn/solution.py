"""Equilibrium of a small tree, with the NashConv that says how near it is, in shares of each seat's payoff range.

With two seats and a constant sum the average policy of CFR+ comes as near as asked. In other games nothing does: the
candidates are that average and the ends of best-response dynamics, and the one with the lowest NashConv is kept.
Of candidates that are near enough it is the one that pays all seats together the most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.base import Seat
from stratagem.games.regret_solver import TreeSolver
from stratagem.games.sequence_form import SequenceForm
from stratagem.games.tree import TERMINAL, GameTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TARGET = 1e-3
"""NashConv that is near enough, as a share of the payoff range."""
ITERATIONS = 2_000
"""Largest number of iterations of CFR+."""
_CHECK_EVERY = 10
"""Iterations between two looks at NashConv, which costs as much as three."""
_STARTS = 4
"""Drawn policies from which best responses follow each other."""
_STEPS = 40
"""Largest number of best responses from one start."""


@dataclass(frozen=True, eq=False)
class TreeSolution:
    """Policy that is an equilibrium but for its NashConv."""

    policy: Floats
    """Probability by the slots of the tree."""
    nash_conv_share: float
    """NashConv: the sum over the seats of what each could gain, as a share of its payoff range."""
    values: tuple[float, ...]
    """Expected payoff by seat, as a share of the range above its lowest payoff."""
    constant_sum: bool
    """True if two seats share a constant sum, so that the values are those of every equilibrium."""
    iterations: int
    """Iterations of CFR+."""


class SeatResponse(NamedTuple):
    """Figures of one seat where all seats play a policy."""

    value: float
    """Expected payoff."""
    gain: float
    """Payoff that its best response adds."""
    best: Ints
    """Best slot of each of its information sets, as its sequences are numbered."""
    values: Floats
    """Value of each of its sequences by the best response, weighed by the others' and chance's way there."""


class ScaledForm(NamedTuple):
    """Sequence form of a tree, and the payoffs that bound it."""

    form: SequenceForm
    lowest: Floats
    """Lowest payoff by seat."""
    ranges: Floats
    """Highest minus lowest payoff by seat; 1 where they are equal."""
    constant_sum: bool

    def figures(self, plans: Sequence[Floats], seat: Seat) -> SeatResponse:
        """Return the figures of a seat under the plans of all seats."""
        gains = self.form.gains(self.form.ends, list(plans), seat)
        value = float(gains @ plans[seat])
        best = self.form.seats[seat].respond(gains)
        return SeatResponse(value, float(gains[0]) - value, best, gains)

    def all_figures(self, policy: Floats) -> list[SeatResponse]:
        """Return the figures of every seat, where all play a policy by the slots of the tree."""
        plans = self.form.plans(policy)
        return [self.figures(plans, seat) for seat in range(len(plans))]

    def gain_share(self, figures: Sequence[SeatResponse]) -> float:
        """Return NashConv, the gain of each seat as a share of its payoff range."""
        return float(sum(max(one.gain, 0.0) / spread for one, spread in zip(figures, self.ranges, strict=True)))

    def value_shares(self, figures: Sequence[SeatResponse]) -> tuple[float, ...]:
        """Return the expected payoff of each seat as a share of its range."""
        values = np.array([one.value for one in figures])
        return tuple(((values - self.lowest) / self.ranges).tolist())


def scale_form(tree: GameTree, form: SequenceForm | None = None) -> ScaledForm:
    """Return the sequence form of a tree with its payoffs' bounds; of a given form, if there is one."""
    paid = tree.returns[tree.mover == TERMINAL]
    low, high = paid.min(axis=0), paid.max(axis=0)
    rounding = 1e-9 * max(1.0, float(np.abs(paid).max()))
    sums = paid.sum(axis=1)
    constant_sum = paid.shape[1] == 2 and float(sums.max() - sums.min()) <= rounding
    return ScaledForm(form or SequenceForm(tree), low, np.where(high > low, high - low, 1.0), constant_sum)


def drawn_policies(form: SequenceForm, count: int) -> list[Floats]:
    """Return policies by the slots of the tree, each drawn evenly among the mixtures of every information set."""
    drawn = np.random.default_rng(0).exponential(size=(count, len(form.tree.set_of_slot)))
    if not drawn.size:
        return list(drawn)
    sums = np.add.reduceat(drawn, form.tree.slots[:-1], axis=1)
    return list(drawn / sums[:, form.tree.set_of_slot])


def solve_drawn(tree: GameTree, scaled: ScaledForm | None = None, target: float = TARGET) -> TreeSolution:
    """Solve a tree until NashConv is at most the target share, or return the best that was found."""
    scaled = scaled or scale_form(tree)
    solver = TreeSolver(tree)
    average, figures = _iterate(scaled, solver, target)
    found = [_describe_solution(scaled, average, figures, solver.iterations)]
    if not scaled.constant_sum:
        for start in (average, *drawn_policies(scaled.form, _STARTS)):
            policy, figures = min(_respond_in_turn(scaled, start, target), key=lambda one: scaled.gain_share(one[1]))
            found.append(_describe_solution(scaled, policy, figures, solver.iterations))
    near = [one for one in found if one.nash_conv_share <= target]
    if not near:
        return min(found, key=lambda one: one.nash_conv_share)
    return max(near, key=lambda one: (round(sum(one.values), 2), -one.nash_conv_share))  # else noise would decide


def _describe_solution(
    scaled: ScaledForm, policy: Floats, figures: Sequence[SeatResponse], iterations: int
) -> TreeSolution:
    return TreeSolution(
        policy, scaled.gain_share(figures), scaled.value_shares(figures), scaled.constant_sum, iterations
    )


def _iterate(scaled: ScaledForm, solver: TreeSolver, target: float) -> tuple[Floats, list[SeatResponse]]:
    """Iterate CFR+ until its average is near enough; of a general sum, the best average until there is no progress."""
    best: tuple[float, int, Floats, list[SeatResponse]] | None = None
    while solver.iterations < ITERATIONS:
        solver.iterate(_CHECK_EVERY)
        policy = solver.average()
        figures = scaled.all_figures(policy)
        gain = scaled.gain_share(figures)
        if best is None or gain <= target or gain < 0.95 * best[0]:  # less is no progress
            best = gain, solver.iterations, policy, figures
        if gain <= target or (not scaled.constant_sum and solver.iterations > 2 * best[1] + 100):
            break
    assert best is not None
    return best[2], best[3]


def _respond_in_turn(scaled: ScaledForm, policy: Floats, target: float) -> Iterator[tuple[Floats, list[SeatResponse]]]:
    """Yield the policies of best-response dynamics: the seat that gains most plays its best response instead."""
    plans = scaled.form.plans(policy)
    policies = [policy[one.order] for one in scaled.form.seats]
    for _ in range(_STEPS):
        figures = [scaled.figures(plans, seat) for seat in range(len(plans))]
        gains = [one.gain / spread for one, spread in zip(figures, scaled.ranges, strict=True)]
        yield scaled.form.join(policies), figures
        if sum(gains) <= target / 10:
            return
        seat = int(np.argmax(gains))
        policies[seat] = np.zeros_like(policies[seat])
        policies[seat][figures[seat].best] = 1.0
        plans[seat] = scaled.form.seats[seat].plan(policies[seat])
