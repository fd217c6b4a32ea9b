"""Best responses and CFR+ on our game trees, as ratios to OpenSpiel's, in one run: `python benchmarks/trees.py`.

Each game is walked once, and its walk is timed. The best response of seat 0 to uniform play and an iteration of CFR+
are ours on the tree that was walked, and OpenSpiel's on its own game, in C++. At last our solver goes on to an
exploitability of .001. Times are of the processor, the least of three.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyspiel

from stratagem.games.catalogue import make_game
from stratagem.games.regret_solver import TreeSolver
from stratagem.games.tree import GameTree
from stratagem.games.tree_walk import walk
from stratagem.measure.tree_policy import Oracle

GAMES = ("kuhn-spiel", "leduc", "liars-dice")
LINE = "| {:10} | {:>8} | {:>7} | {:>12} | {:>12} | {:>6} |"
SOLVED = "| {:10} | {:>13} | {:>13} | {:>6} | {:>18} | {:>10} |"
NEAR = 0.001
ITERATIONS = 20
"""Iterations of ours in one measurement."""
THEIRS = 3
"""Iterations of OpenSpiel in one measurement: each takes up to a fifth of a second."""


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the least time of some repeats, and the result."""
    least, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result


def own_value(spiel: Any) -> float:
    """Return the value of OpenSpiel's best response on its own game."""
    policy = pyspiel.UniformRandomPolicy(spiel)
    response = pyspiel.TabularBestResponse(spiel, 0, policy)
    return float(response.value_from_state(spiel.new_initial_state()))


def solve_to(tree: GameTree) -> tuple[TreeSolver, float]:
    """Solve a tree by discounted CFR until it is near an equilibrium; return the solver and the seconds."""
    solver, start = TreeSolver(tree, "dcfr"), time.process_time()
    while sum(solver.gaps()) / 2 > NEAR:
        solver.iterate(ITERATIONS)
    return solver, time.process_time() - start


def iterate(solver: Any) -> None:
    """Do some iterations of OpenSpiel's solver."""
    for _ in range(THEIRS):
        solver.evaluate_and_update_policy()


def print_solvers() -> None:
    """Print a row a game: an iteration of CFR+, and the way to .001."""
    print(SOLVED.format("game", "OpenSpiel, ms", "ours, ms", "times", "iterations to .001", "seconds"))
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in GAMES:
        game = make_game(name)
        twin, tree = game.twin(), walk(game)
        assert twin is not None
        solver, theirs = TreeSolver(tree), pyspiel.CFRPlusSolver(twin.spiel)
        ours = seconds(partial(solver.iterate, ITERATIONS))[0] / ITERATIONS
        slow = seconds(partial(iterate, theirs))[0] / THEIRS
        near, spent = solve_to(tree)
        row = (name, f"{slow * 1e3:.3f}", f"{ours * 1e3:.3f}", f"{slow / ours:.1f}", near.iterations, f"{spent:.2f}")
        print(SOLVED.format(*row))


def main() -> None:
    """Print a row a game."""
    print(LINE.format("game", "nodes", "walk, s", "OpenSpiel, s", "our tree, s", "times"))
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in GAMES:
        game = make_game(name)
        walked, tree = seconds(partial(walk, game), repeats=1)
        oracle, sizes = Oracle(tree), np.diff(tree.slots)
        even = np.repeat(1.0 / sizes, sizes)
        ours, response = seconds(partial(oracle.best_response, even, 0))
        twin = game.twin()
        assert twin is not None
        theirs, value = seconds(partial(own_value, twin.spiel))
        assert abs(response.value - value) < 1e-9
        row = (name, f"{len(tree):,}", f"{walked:.2f}", f"{theirs:.4f}", f"{ours:.4f}", f"{theirs / ours:.2f}")
        print(LINE.format(*row))
    print()
    print_solvers()


if __name__ == "__main__":
    main()
