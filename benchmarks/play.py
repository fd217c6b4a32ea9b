"""Speed of scripted play, as ratios to loops over OpenSpiel and to TextArena's, all in one run.

Every loop plays uniformly random legal moves. Ours derives each draw from a key and can say afterwards what it was;
recording writes every decision to Parquet. Speeds are by processor time, since other programs may run on the machine.
Ratios to the bare loop are printed with their goal. Run with `make bench`.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyspiel
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.bots.uniform_random import UniformRandomBot

from stratagem.games import Key, make_game
from stratagem.players.uniform import Random
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import record

REPEATS = 5
GAMES = {
    "tic-tac-toe": "tic_tac_toe",
    "kuhn(hands=1)": "kuhn_poker",
    "ipd": "repeated_game(stage_game=matrix_pd(),num_repetitions=8)",
}
"""Our name and OpenSpiel's."""
RIVALS = {
    "bare": "a bare Python loop over OpenSpiel",
    "python": "OpenSpiel's loop, Python bots",
    "native": "OpenSpiel's loop, C++ bots",
}
GOALS = {f"ratio to {RIVALS['bare']}": 0.3, "the same, recording (bare)": 0.15}
"""Least ratio that is aimed at, by the end of a figure's name."""


def decisions_a_second(**runs: Callable[[], int]) -> dict[str, float]:
    """The best of several runs of each side, all sides in turn; a run returns the number of its decisions."""
    best = dict.fromkeys(runs, 0.0)
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.process_time()
            best[name] = max(best[name], run() / (time.process_time() - start))
    return best


def ours(name: str, episodes: int, *, recording: bool) -> Callable[[], int]:
    """Our scheduler."""
    match = Match(make_game(name), [Random(), Random()])

    def run() -> int:
        setups = rotate_seats(match, episodes, Key(0), name="bench")
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


def bare(name: str, episodes: int) -> Callable[[], int]:
    """The shortest loop over OpenSpiel: no bots, no names, no keys, nothing kept."""
    game, rng = pyspiel.load_game(name), random.Random(0)

    def run() -> int:
        decisions = 0
        for _ in range(episodes):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_simultaneous_node():
                    state.apply_actions([rng.choice(state.legal_actions(seat)) for seat in range(2)])
                    decisions += 2
                elif state.is_chance_node():
                    actions, odds = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(actions, odds)[0])
                else:
                    state.apply_action(rng.choice(state.legal_actions()))
                    decisions += 1
            state.returns()
        return decisions

    return run


def longest_pause(run: Callable[[], int]) -> float:
    """Longest collection of garbage, in milliseconds."""
    pauses, start = [0.0], 0.0

    def note(phase: str, _: dict[str, int]) -> None:
        nonlocal start
        if phase == "start":
            start = time.perf_counter()
        else:
            pauses.append(time.perf_counter() - start)

    gc.callbacks.append(note)
    run()
    gc.callbacks.remove(note)
    return 1000.0 * max(pauses)


def text_arenas(python: str) -> float:
    """TextArena's Kuhn poker of three hands, in its own environment."""
    script = Path(__file__).with_name("textarena_kuhn.py")
    command = [python, str(script), str(REPEATS)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def memory_growth() -> list[float]:
    """MiB of peak memory after 10,000 recorded kuhn hands, and after 100,000, each in a process of its own."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        return processes.map(peak_after, (10_000, 100_000), chunksize=1)


def peak_after(hands: int) -> float:
    """MiB of peak memory of this process after so many recorded kuhn hands."""
    match = Match(make_game("kuhn(hands=1)"), [Random(), Random()])
    with tempfile.TemporaryDirectory() as folder:
        for _ in record(play(rotate_seats(match, hands, Key(hands), name="memory")), Path(folder)):
            pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def import_seconds() -> float:
    """Seconds to import the games in a fresh process, the best of several."""
    code = "import time; t = time.perf_counter(); import stratagem.games; print(time.perf_counter() - t)"
    runs = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5))
    return min(float(run.stdout) for run in runs)


def measure(episodes: int, textarena: str | None) -> dict[str, float]:
    """Every figure by name."""
    found: dict[str, float] = {}
    for name, theirs in GAMES.items():
        sides = {"plain": ours(name, episodes, recording=False), "recorded": ours(name, episodes, recording=True)}
        sides["bare"] = bare(theirs, episodes)
        if name != "ipd":  # OpenSpiel's loop of bots has no simultaneous moves
            sides |= {kind: open_spiels(theirs, episodes, native=kind == "native") for kind in ("python", "native")}
        speed = decisions_a_second(**sides)
        found[f"{name}: decisions/s"], found[f"{name}: recorded decisions/s"] = speed["plain"], speed["recorded"]
        for rival, told in RIVALS.items():
            if rival in speed:
                found[f"{name}: ratio to {told}"] = speed["plain"] / speed[rival]
                found[f"{name}: the same, recording ({rival})"] = speed["recorded"] / speed[rival]
    found["longest pause of garbage collection in 20,000 recorded hands, ms"] = longest_pause(
        ours("kuhn(hands=1)", 20_000, recording=True)
    )
    if textarena:
        kuhn = decisions_a_second(plain=ours("kuhn(hands=3)", episodes, recording=False))["plain"]
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
        goal = next((f", goal {least:g}" for end, least in GOALS.items() if name.endswith(end)), "")
        print(f"{value:12,.3f}  {name}{goal}")


if __name__ == "__main__":
    main()
