"""Growth of time and memory with rounds, seats, episodes, prompt length and league members, each at four sizes.

Every measurement is a process of its own; the best of three counts. The exponent is the slope of log time over log
size by least squares, with its standard error; 1 is linear growth. `--json FILE` writes the figures. Run with
`make bench-growth`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stratagem.algorithms.league.ratings import MEAN, Score, elo_among, elo_by_name
from stratagem.games import Key, make_game
from stratagem.games.matrix.players import TitForTat
from stratagem.games.tree_walk import walk
from stratagem.measure.evaluate import evaluate
from stratagem.measure.matchups import Evaluator
from stratagem.measure.suites import find_suite
from stratagem.measure.tournament import tournament
from stratagem.players.language import language_player
from stratagem.players.uniform import Random
from stratagem.players.wrappers import Noisy
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, record
from stratagem.training.opponents.matchmaking import PFSP, Situation
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.results import Results

Work = Callable[[], object]
BUSY, LEAST, ROUNDS = 0.2, 2, 3
"""Seconds and times for which a piece of work is repeated at least, and rounds over all sizes.

In one of two runs Python may look at all objects of the libraries, which takes a tenth of a second.
"""


class Growth(NamedTuple):
    """Work of one kind at several sizes; `prepare` is not timed."""

    name: str
    sizes: Sequence[int]
    prepare: Callable[[int], Work]
    note: str


class Fit(NamedTuple):
    """Slope of a line through logarithms, with its standard error."""

    slope: float
    error: float


def setups_of(game: str, number: int) -> Iterator[Setup]:
    """Setups of random players."""
    made = make_game(game)
    match = Match(made, [Random()] * made.spec.seats)
    return islice(rotate_seats(match, number, Key(0), name="growth"), number)


def episodes_of(game: str, number: int, *, detail: bool) -> list[Episode]:
    """Play between random players."""
    return list(play(setups_of(game, number), detail=detail))


def playing(game: str, number: int = 4) -> Callable[[int], Work]:
    """Play without a record."""
    return lambda size: lambda: episodes_of(game.format(size), number, detail=False)


def recording(game: str, number: int = 4) -> Callable[[int], Work]:
    """Play with a record on disk."""

    def work(size: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for _ in record(play(setups_of(game.format(size), number or size)), Path(folder)):
                pass

    return lambda size: lambda: work(size)


def reading(size: int) -> Work:
    """Read a record with its decisions."""
    folder = Path(tempfile.mkdtemp())
    for _ in record(iter(episodes_of("kuhn(hands=1)", size, detail=True)), folder):
        pass
    return lambda: [len(episode.decisions) for episode in read_episodes(folder)]


def evaluating(size: int) -> Work:
    """Measure a scripted player by sampled play."""
    suite = find_suite("ipd(continuation=0.9)", ("TitForTat", "random"))
    player = Noisy(TitForTat(), 0.1)
    return lambda: evaluate(suite, [player.name], Evaluator(key=Key(0), episodes=size, exact_budget=0), chance=False)


def prompting(size: int) -> Work:
    """Decisions of the model `tiny` whose prompts have about so many tokens, by the rounds that they tell of."""
    game = make_game(f"ipd(rounds={size})")
    match = Match(game, [language_player("tiny", mode="constrained"), TitForTat()])
    setups = list(rotate_seats(match, 8, Key(0), name="growth"))
    list(play(setups[:1]))
    return lambda: list(play(setups))


def results_of(members: int) -> Results:
    """Results of every pair."""
    names = [f"m{number}" for number in range(members)]
    results = Results(names)
    for first, second in combinations(range(members), 2):
        results.record(names[first], names[second], float((first * second) % 3 == 0))
    return results


def rating_all(members: int) -> Work:
    """Rate all members from the games of all pairs."""
    pairs = combinations(range(members), 2)
    scores = [Score(f"m{first}", f"m{second}", float((first * second) % 3 == 0)) for first, second in pairs]
    return lambda: elo_by_name(scores)


def rating_one(members: int) -> Work:
    """Rate one member from its own games."""
    results = results_of(members)
    own = results.counts("m0", results.names[1:])
    return lambda: elo_among(*own, np.full(members - 1, MEAN))


def matchmaking(members: int) -> Work:
    """Compute the distribution over a learner's opponents."""
    population, results = Population(), results_of(members)
    population.add(Member(name="m0", role="main", learns=True, player="random"))
    for number in range(1, members):
        population.add(Member(name=f"m{number}", role="bot", player="random"))
    learner, situation = population["m0"], Situation(population, results)
    return lambda: PFSP().odds(learner, situation)


def cross_play(members: int) -> Work:
    """Play all pairs of scripted players."""
    game = make_game("ipd")
    players = [Noisy(TitForTat(), 0.01 * (1 + number)) for number in range(members)]
    return lambda: tournament(game, "ipd", players, Evaluator(key=Key(0), episodes=4, exact_budget=0))


def walking(leaves: int) -> Work:
    """Walk the tree of the repeated dilemma with so many ends, a power of four."""
    game = make_game(f"ipd(rounds={round(math.log(leaves, 4))})")
    return lambda: walk(game)


GROWTHS = (
    Growth("play by rounds, ipd", (200, 400, 800, 1600), playing("ipd(rounds={})"), "each view holds all moves"),
    Growth("play by rounds, public-goods", (100, 200, 400, 800), playing("public-goods(rounds={})"), "linear"),
    Growth("play by rounds, kuhn", (100, 200, 400, 800), playing("kuhn(hands={})"), "linear"),
    Growth(
        "recorded play by rounds, ipd", (100, 200, 400, 800), recording("ipd(rounds={})"), "text of all rounds a row"
    ),
    Growth("recorded play by rounds, kuhn", (100, 200, 400, 800), recording("kuhn(hands={})"), "linear"),
    Growth(
        "play by seats", (4, 8, 16, 32), playing("public-goods(seats={},rounds=20)", 16), "decisions grow with seats"
    ),
    Growth(
        "recorded play by seats",
        (4, 8, 16, 32),
        recording("public-goods(seats={},rounds=20)", 16),
        "decisions, and the text of all seats a row",
    ),
    Growth("recorded play by episodes, kuhn", (2000, 4000, 8000, 16000), recording("kuhn(hands=1)", 0), "linear"),
    Growth("reading a record by episodes", (1000, 2000, 4000, 8000), reading, "linear"),
    Growth("evaluation by episodes", (100, 200, 400, 800), evaluating, "linear"),
    Growth("model's play by rounds told in the prompt", (4, 8, 16, 32), prompting, "decisions times prompt"),
    Growth("walk of a tree by its ends, ipd", (256, 1024, 4096, 16384), walking, "each view holds all moves"),
    Growth("rating of all members", (64, 128, 256, 512), rating_all, "all pairs: 2"),
    Growth("rating of one member", (512, 1024, 2048, 4096), rating_one, "linear"),
    Growth("matchmaking of one learner", (64, 128, 256, 512), matchmaking, "linear"),
    Growth("cross-play of all members", (4, 8, 16, 32), cross_play, "all pairs: 2"),
)


def measured(growth: Growth, size: int) -> tuple[float, float]:
    """Seconds and additional MiB of one size, in a fork of this process."""
    reads, writes = os.pipe()
    if not (child := os.fork()):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work = growth.prepare(size)
        work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(writes, json.dumps([best_seconds(work), peak / 1024]).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        seconds, mebibytes = json.loads(pipe.read())
    os.waitpid(child, 0)
    return seconds, mebibytes


def best_seconds(work: Work) -> float:
    """The shortest of several runs, in seconds of the processor, for which other work counts for little."""
    found: list[float] = []
    while len(found) < LEAST or sum(found) < BUSY:
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def fitted(sizes: Sequence[int], values: Sequence[float]) -> Fit:
    """Fit a line to logarithms by least squares."""
    x, y = np.log(np.array(sizes, float)), np.log(np.maximum(values, 1e-9))
    x = x - x.mean()
    slope = float((x * y).sum() / (x * x).sum())
    rest = y - y.mean() - slope * x
    return Fit(slope, math.sqrt(float((rest**2).sum()) / (len(x) - 2) / float((x * x).sum())))


def measure(only: str) -> Iterator[dict[str, Any]]:
    """Measure every kind of work."""
    for growth in GROWTHS:
        if only in growth.name:
            runs = np.array([[measured(growth, size) for size in growth.sizes] for _ in range(ROUNDS)])
            seconds, mebibytes = runs.min(axis=0).T.tolist()
            time_fit, memory_fit = fitted(growth.sizes, seconds), fitted(growth.sizes, np.maximum(mebibytes, 0.5))
            yield {
                "work": growth.name,
                "sizes": list(growth.sizes),
                "seconds": list(seconds),
                "mebibytes": list(mebibytes),
                "time": time_fit,
                "memory": memory_fit,
                "expected": growth.note,
            }


def main() -> None:
    """Print every exponent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of the name of the work")
    parser.add_argument("--json", type=Path, help="file for the figures")
    asked = parser.parse_args()
    rows = []
    print("| work | sizes | CPU ms | MiB | time exponent | memory exponent | expected |\n" + "| --- " * 7 + "|")
    for row in measure(asked.only):
        rows.append(row)
        milliseconds = ", ".join(f"{1e3 * value:.3g}" for value in row["seconds"])
        memory = ", ".join(f"{value:.0f}" for value in row["mebibytes"])
        exponents = " | ".join(f"{fit.slope:.2f} ± {fit.error:.2f}" for fit in (row["time"], row["memory"]))
        sizes = ", ".join(map(str, row["sizes"]))
        print(f"| {row['work']} | {sizes} | {milliseconds} | {memory} | {exponents} | {row['expected']} |", flush=True)
    if asked.json is not None:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        asked.json.write_text(json.dumps({**machine, "growth": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
