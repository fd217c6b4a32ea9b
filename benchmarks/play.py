"""Speed of scripted play, as ratios to OpenSpiel's own match loop and to TextArena's, all in one run.

Every loop plays uniformly random legal moves. Ours derives each draw from a key and can say afterwards what it was;
recording writes every decision to Parquet. Run with `make bench`.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyspiel
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.bots.uniform_random import UniformRandomBot

from stratagem.games import Key, make_game
from stratagem.play.match import Match
from stratagem.play.scheduler import play
from stratagem.play.seating import rotated
from stratagem.play.store import record
from stratagem.players.uniform import Random

REPEATS = 5
GAMES = {"tic-tac-toe": "tic_tac_toe", "kuhn(hands=1)": "kuhn_poker"}
"""Our name and OpenSpiel's."""


def decisions_a_second(run: Callable[[], int]) -> float:
    """The best of several runs; a run says how many decisions it made."""
    best = 0.0
    for _ in range(REPEATS):
        start = time.perf_counter()
        best = max(best, run() / (time.perf_counter() - start))
    return best


def ours(name: str, episodes: int, *, recording: bool) -> Callable[[], int]:
    """Our scheduler."""
    match = Match(make_game(name), [Random(), Random()])

    def run() -> int:
        setups = rotated(match, episodes, Key(0), name="bench")
        if not recording:
            return sum(sum(episode.num_decisions) for episode in play(setups, detail=False))
        with tempfile.TemporaryDirectory() as folder:
            return sum(sum(episode.num_decisions) for episode in record(play(setups), Path(folder)))

    return run


def open_spiels(name: str, episodes: int, *, native: bool) -> Callable[[], int]:
    """OpenSpiel's loop, with its Python bots or its C++ ones."""
    game = pyspiel.load_game(name)
    rng = np.random.RandomState(0)
    bots = [
        pyspiel.make_uniform_random_bot(seat, seat) if native else UniformRandomBot(seat, rng)
        for seat in range(game.num_players())
    ]
    chance_moves = game.max_chance_nodes_in_history()

    def run() -> int:
        decisions = 0
        for _ in range(episodes):
            state = game.new_initial_state()
            evaluate_bots(state, bots, rng)
            decisions += len(state.history()) - chance_moves
        return decisions

    return run


def text_arenas(python: str) -> float:
    """TextArena's Kuhn poker of three hands, in its own environment."""
    script = Path(__file__).with_name("textarena_kuhn.py")
    command = [python, str(script), str(REPEATS)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def memory_growth() -> tuple[float, float]:
    """MiB of peak memory after 10,000 recorded kuhn hands, and after 100,000."""
    match = Match(make_game("kuhn(hands=1)"), [Random(), Random()])
    peaks = []
    for hands in (10_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            for _ in record(play(rotated(match, hands, Key(hands), name="memory")), Path(folder)):
                pass
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return peaks[0], peaks[1]


def import_seconds() -> float:
    """Seconds to import the games in a fresh process, the best of several."""
    code = "import time; t = time.perf_counter(); import stratagem.games; print(time.perf_counter() - t)"
    runs = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5))
    return min(float(run.stdout) for run in runs)


def measure(episodes: int, textarena: str | None) -> dict[str, float]:
    """Every figure by name."""
    found: dict[str, float] = {}
    for name, theirs in GAMES.items():
        python = decisions_a_second(open_spiels(theirs, episodes, native=False))
        native = decisions_a_second(open_spiels(theirs, episodes, native=True))
        plain = decisions_a_second(ours(name, episodes, recording=False))
        recorded = decisions_a_second(ours(name, episodes, recording=True))
        found |= {
            f"{name}: decisions/s": plain,
            f"{name}: ratio to OpenSpiel's loop, Python bots": plain / python,
            f"{name}: the same, recording": recorded / python,
            f"{name}: ratio to OpenSpiel's loop, C++ bots": plain / native,
            f"{name}: the same, recording (C++ bots)": recorded / native,
        }
    if textarena:
        kuhn = decisions_a_second(ours("kuhn(hands=3)", episodes, recording=False))
        found["kuhn(hands=3): decisions/s"] = kuhn
        found["kuhn(hands=3): ratio to TextArena's loop"] = kuhn / text_arenas(textarena)
    found["import stratagem.games, seconds"] = import_seconds()
    found["peak MiB after 10,000 recorded kuhn hands"], found["peak MiB after 100,000"] = memory_growth()
    return found


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=3000)
    parser.add_argument("--textarena", help="a Python that has TextArena")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.episodes, options.textarena)
    if options.json:
        print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), **found}, indent=2))
        return
    for name, value in found.items():
        print(f"{value:12,.3f}  {name}")


if __name__ == "__main__":
    main()
