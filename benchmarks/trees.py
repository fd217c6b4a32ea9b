"""Walks, best responses and CFR+ on our game trees, as ratios to OpenSpiel's: `python benchmarks/trees.py`.

A walk is compared with a Python loop over OpenSpiel's states that keeps nothing; its limit is that loop. The memory is
that of a process of its own, at its peak. The best response of seat 0 to uniform play and an iteration of CFR+
are ours on the tree that was walked, and OpenSpiel's on its own game, in C++. At last our solver goes on to an
exploitability of .001. Times are of the processor, the least of three.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyspiel

from stratagem.games.catalogue import make_game
from stratagem.games.regret_solver import TreeSolver
from stratagem.games.spiel.rules import SpielRules
from stratagem.games.tree import GameTree
from stratagem.games.tree_walk import walk
from stratagem.measure.tree_policy import Oracle

WALKED = (
    "leduc",
    "liars-dice",
    "tic-tac-toe",
    "spiel:leduc_poker(players=3)",
    "spiel:liars_dice(dice_sides=8)",
    "ipd(rounds=8)",
    "auction(rounds=3)",
)
GAMES = ("kuhn-spiel", "leduc", "liars-dice")
WALK = "| {:30} | {:>9} | {:>7} | {:>9} | {:>6} | {:>7} |"
LINE = "| {:10} | {:>8} | {:>12} | {:>12} | {:>6} |"
SOLVED = "| {:10} | {:>13} | {:>13} | {:>6} | {:>18} | {:>10} |"
NEAR = 0.001
LARGE = 100_000
"""Nodes from which on the memory of a walk can be told from that of the process."""
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


def visit(spiel: Any) -> int:
    """Visit every state of a game of OpenSpiel, and return their number."""
    number, pending = 0, [spiel.new_initial_state()]
    while pending:
        state = pending.pop()
        number += 1
        if not state.is_terminal():
            pending += [state.child(action) for action in state.legal_actions()]
    return number


def print_walk(name: str) -> None:
    """Print the row of one game, which this process walks alone."""
    game = make_game(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent, tree = seconds(partial(walk, game, budget=10**8), repeats=1)
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    ours, ratio = len(tree) / spent, ""
    if isinstance(game, SpielRules):
        slow, number = seconds(partial(visit, game.engine.spiel), repeats=1)
        ratio = f"{ours / (number / slow):.2f}"
    per_node = f"{peak / len(tree):.0f}" if len(tree) >= LARGE else ""
    print(WALK.format(name, f"{len(tree):,}", f"{spent:.2f}", f"{ours:,.0f}", ratio, per_node), flush=True)


def print_walks() -> None:
    """Print a row a game: the walk as a ratio to a bare loop, and its bytes a node."""
    print(WALK.format("game", "nodes", "walk, s", "nodes/s", "ratio", "B/node"), flush=True)
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for name in WALKED:
        subprocess.run([sys.executable, __file__, "--walk", name], check=True)
    print()


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--walk"]:
        print_walk(sys.argv[2])
        return
    print_walks()
    print(LINE.format("game", "nodes", "OpenSpiel, s", "our tree, s", "times"))
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in GAMES:
        game = make_game(name)
        tree = walk(game)
        oracle, sizes = Oracle(tree), np.diff(tree.slots)
        even = np.repeat(1.0 / sizes, sizes)
        ours, response = seconds(partial(oracle.best_response, even, 0))
        twin = game.twin()
        assert twin is not None
        theirs, value = seconds(partial(own_value, twin.spiel))
        assert abs(response.value - value) < 1e-9
        row = (name, f"{len(tree):,}", f"{theirs:.4f}", f"{ours:.4f}", f"{theirs / ours:.2f}")
        print(LINE.format(*row))
    print()
    print_solvers()


if __name__ == "__main__":
    main()
