"""Best responses on our game trees, as ratios to OpenSpiel's own, in one run: `python benchmarks/trees.py`.

Each game is walked once, and its walk is timed. Then OpenSpiel computes the best response of seat 0 to uniform play, on
its own game and on the tree that was walked. Times are of the processor, the least of three.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyspiel

from stratagem.games.catalogue import make_game
from stratagem.games.tree_walk import walk
from stratagem.measure.tree_policy import Oracle

GAMES = ("kuhn-spiel", "leduc", "liars-dice")
LINE = "| {:10} | {:>8} | {:>7} | {:>12} | {:>12} | {:>6} |"


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


if __name__ == "__main__":
    main()
