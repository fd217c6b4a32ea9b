"""Solutions: `solve` finds an equilibrium of a small game, and says how exploitable it still is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.arguments import new_file
from stratagem.api.mistakes import one_sentence
from stratagem.api.progress import bar
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter
from stratagem.base.files import write_json
from stratagem.base.options import is_number, whole
from stratagem.games.base import Json
from stratagem.games.catalogue import describe
from stratagem.games.tree_cache import tree_of
from stratagem.games.tree_walk import BUDGET
from stratagem.players.equilibrium import CFR_PLUS, Table, has_distinct_keys, is_solvable, policy_table
from stratagem.players.given import GameLike, as_game
from stratagem.show.table import ResultTable, text_table

if TYPE_CHECKING:
    from stratagem.games.regret_solver import TreeSolver
    from stratagem.measure.tree_policy import Oracle

NEAR = 0.001
"""Exploitability at which a solution is near enough, in the unit of the game."""
_GROWTH = 1.25
"""Factor between the iterations at which the exploitability is measured."""

__all__ = ["Solution", "SolvePoint", "solve"]


@dataclass(frozen=True)
class SolvePoint:
    """State of a solution after some iterations."""

    iterations: int
    seconds: float
    """Time of the iterations, without the walk of the tree and the measurements."""
    exploitability: float
    """Gain a round of a best response, the mean over the seats."""
    nash_conv: float
    """Sum of these gains over the seats."""


@dataclass(frozen=True, repr=False)
class Solution(Result):
    """Policy of all seats, and its exploitability on the way. It has counts and one curve, so there is no picture."""

    game: str
    method: str
    unit: str
    nodes: int
    information_sets: int
    is_equilibrium: bool
    """True if the method converges to an equilibrium here: two seats with constant sum."""
    points: tuple[SolvePoint, ...]
    policy: Table | None
    """Probabilities of the actions by the key of the information set; None where a key names several sets."""

    def __float__(self) -> float:
        return self.points[-1].exploitability

    @property
    def seconds_to_near(self) -> float | None:
        """Time until the exploitability was at most .001, as it was measured; None where it never was."""
        return next((point.seconds for point in self.points if point.exploitability <= NEAR), None)

    def rows(self) -> list[Json]:
        """Return one row for each measurement of the exploitability."""
        return [asdict(point) for point in self.points]

    def to_json(self) -> Json:
        """Return the figures on the way, as `stratagem solve --json` prints them."""
        named = {"game": self.game, "method": self.method, "unit": self.unit}
        sizes = {"nodes": self.nodes, "information_sets": self.information_sets}
        near = {"is_equilibrium": self.is_equilibrium, "seconds_to_near": self.seconds_to_near}
        return {**named, **sizes, **near, "points": self.rows()}

    def tables(self) -> list[ResultTable]:
        title = f"{self.game} by {self.method}: {self.nodes:,} nodes, {self.information_sets:,} information sets"
        shown = [point for place, point in enumerate(self.points) if place % 4 == 0 or point is self.points[-1]]
        rows = [
            (f"{point.iterations:,}", f"{point.seconds:.2f}", f"{point.exploitability:.6f}", f"{point.nash_conv:.6f}")
            for point in shown
        ]
        return [text_table(title, ("iterations", "seconds", "exploitability", "NashConv"), rows)]

    def remarks(self) -> list[str]:
        """Return the unit, the time to .001, and what may be claimed."""
        lines = [f"Exploitability is in {self.unit}: the mean over the seats of what a best response gains."]
        if not self.is_equilibrium:
            return [*lines, "No equilibrium is claimed: the method has one in games of two seats with constant sum."]
        if (seconds := self.seconds_to_near) is not None:
            lines.append(f"At most {NEAR} after {seconds:.2f} s.")
        if self.policy is not None and self.nodes <= BUDGET:
            method = f":{self.method}" if self.method != CFR_PLUS else ""
            lines.append(f"As a player: cfr:{self.points[-1].iterations}{method}.")
        return lines

    def forms(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writer of the policy as JSON: actions and probabilities by information set."""
        if self.policy is None:
            return {}
        return {".json": lambda path: write_json({**self.to_json(), "policy": self.policy}, path)}


@one_sentence
def solve(
    game: GameLike,
    *,
    method: str = CFR_PLUS,
    iterations: int = 1000,
    until: float | None = None,
    exact_budget: int = BUDGET,
    out: str | Path | None = None,
    progress: bool = True,
) -> Solution:
    """Find an equilibrium of a small game by counterfactual regret minimisation, and measure how near it is.

    In games of more than two seats, or without constant sum, the figures say what the seats could still gain, and no
    equilibrium is claimed.

    Args:
        game: Game whose tree can be walked.
        method: cfr+, dcfr or cfr.
        iterations: Largest number of iterations, each of which updates every seat.
        until: Exploitability at which it stops, in the unit of the game.
        exact_budget: Largest number of nodes of the game's tree, if it is above 2,000,000.
        out: New JSON file for the policy and the figures.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    whole("solve", "iterations", iterations, 1)
    whole("solve", "exact_budget", exact_budget, 1)
    if until is not None and not (is_number(until) and until > 0.0):
        raise BadParameter(f"solve stops at an exploitability above 0: `until={until}` is none.")
    from stratagem.games.regret_solver import TreeSolver, check_method  # loads numpy
    from stratagem.measure.tree_policy import Oracle

    check_method(method)
    made, file = as_game(game), None if out is None else new_file(out)
    with bar("", iterations, shown=progress) as show:
        tree = tree_of(
            made, max(exact_budget, BUDGET), lambda nodes: show(0, iterations, f"{nodes:,} nodes"), one_round=True
        )
        solver, points = TreeSolver(tree, method), list[SolvePoint]()
        for point in _improve(solver, Oracle(tree), iterations):
            points.append(point)
            show(point.iterations, iterations, f"exploitability {point.exploitability:.6f}")
            if until is not None and point.exploitability <= until:
                break
    solution = Solution(
        game=describe(made),
        method=method,
        unit=made.spec.unit,
        nodes=len(tree),
        information_sets=len(tree.information_sets),
        is_equilibrium=is_solvable(made),
        points=tuple(points),
        policy=policy_table(tree, solver.average().tolist()) if has_distinct_keys(tree) else None,
    )
    if file is not None:
        solution.save(file)
    return solution


def _improve(solver: TreeSolver, oracle: Oracle, iterations: int) -> Iterator[SolvePoint]:
    """Yield how exploitable the average policy is, again and again on the way to so many iterations."""
    from stratagem.measure.exploitability.exact import of_policy  # loads numpy

    seconds = 0.0
    for stop in _stops(iterations):
        before = time.perf_counter()
        solver.iterate(stop - solver.iterations)
        seconds += time.perf_counter() - before
        found = of_policy(oracle, solver.average())
        yield SolvePoint(stop, seconds, found.exploitability, found.nash_conv)


def _stops(iterations: int) -> Iterator[int]:
    """Yield the iterations at which the exploitability is measured: each by a factor later, and the last."""
    stop = 1
    while stop < iterations:
        yield stop
        stop = max(stop + 1, int(stop * _GROWTH))
    yield iterations
