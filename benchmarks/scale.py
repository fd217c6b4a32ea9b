"""Units of work an hour by the number of workers: a sweep, a tournament, an evaluation, and rollouts of Diplomacy.

Steps of GRPO with and without `overlap` follow, as a ratio of the same run, and optimizer steps by the number of ranks,
with their efficiency.

Each number of workers does the same work, after a first round in which processes start and load their models. A figure
of `in process` is the work without workers. `python benchmarks/scale.py --workers 1 2 4` prints the table; each case
also prints whether the results are bit-identical.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
import tomllib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import scale_ranks

from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.games import Key, make_game
from stratagem.measure.matchups import Evaluator
from stratagem.measure.tournament import tournament
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.seating import rotate_seats
from stratagem.playing.workers.base import InProcess, Workers
from stratagem.playing.workers.plan import change_plan
from stratagem.playing.workers.processes import Processes
from stratagem.playing.workers.shards import play_setups
from stratagem.playing.workers.threads import use_threads
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.sweeps.run_maker import made_by_workers
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE


class Case(NamedTuple):
    """Work whose speed is measured."""

    unit: str
    work: Callable[[int], tuple[int, Any]]
    """Function from the number of the round to the number of units and the results, without times."""


def without_times(episodes: Sequence[Episode]) -> list[Episode]:
    """Set the milliseconds of all calls to 0."""
    for episode in episodes:
        for row in episode.decisions:
            row.calls = tuple(replace(call, ms=0.0) for call in row.calls)
    return list(episodes)


def of_setups(setups: Callable[[int], list[Setup]]) -> Callable[[int], tuple[int, Any]]:
    """Play setups that are made for a round."""

    def work(number: int) -> tuple[int, Any]:
        episodes = without_times(play_setups(setups(number)))
        return sum(len(episode.decisions) for episode in episodes), episodes

    return work


def bout(text: str, names: Sequence[str], episodes: int) -> Callable[[int], list[Setup]]:
    """Make setups of players by name."""
    game = make_game(text)
    players = [make_player(name, game) for name in names]
    return lambda number: list(rotate_seats(Match(game, players), episodes, Key(number), name=f"{text}/{number}"))


def sweep(number: int) -> tuple[int, Any]:
    """Train eight short runs of GRPO in Kuhn poker."""
    with tempfile.TemporaryDirectory() as root:
        changes = {"grpo.iterations": "4", "evaluate_every": "4", "sft.num_examples": "200", "test_episodes": "20"}
        runs = [
            PlannedRun(f"run-{seed}", (Path("recipes/grpo/kuhn.toml"),), {**changes, "seed": str(8 * number + seed)})
            for seed in range(8)
        ]
        outcomes = made_by_workers(runs, Path(root), {run.name: run.command(Path(root)) for run in runs})
        assert all(outcome == "made" for _, outcome in outcomes)
        return len(runs), [(RunFolder.open(Path(root) / run.name).path / FILE).read_bytes() for run in runs]


def crossplay(number: int) -> tuple[int, Any]:
    """Play a tournament of scripted players of the iterated prisoner's dilemma, noise included."""
    text = "ipd(rounds=100)"
    game = make_game(text)
    names = ("TitForTat", "GrimTrigger", "Pavlov", "TitForTwoTats", "FirmButFair", "Joss", "GenerousZD", "ExtortZD")
    players = [make_player(f"noise({name}, p=0.05)", game) for name in names]
    result = tournament(game, text, players, Evaluator(30, Key(number), budget=0))
    return 36 * 30, [[estimate.mean for estimate in row] for row in result.payoff]


CASES = {
    "sweep": Case("runs", sweep),
    "tournament": Case("episodes", crossplay),
    "evaluation": Case("decisions", of_setups(bout("tic-tac-toe", ("tiny(mode=recover)", "random"), 32))),
    "diplomacy": Case("decisions", of_setups(bout("diplomacy(until=1901)", ("tiny", *["dumbbot"] * 6), 7))),
}


OVERLAPPED = 6
"""Number of steps of a run that is measured with and without `overlap`."""
SHARDS = {"decisions": 4, "episodes": 64}
"""Tables in a shard by unit."""


def measured(case: Case, workers: Workers, rounds: int) -> tuple[float, Any]:
    """Return the units an hour of one kind of workers, and the results of the last round."""
    with change_plan(workers=workers, tables_per_shard=SHARDS.get(case.unit, 4), num_threads=1):
        case.work(0)
        start, units = time.perf_counter(), 0
        for number in range(1, rounds + 1):
            done, results = case.work(number)
            units += done
        return 3600.0 * units / (time.perf_counter() - start), results


def time_steps(overlap: int, seed: int) -> float:
    """Return the seconds of the steps of a run of GRPO in Kuhn poker, without the first step and the validations."""
    settings: dict[str, Any] = tomllib.loads(Path("recipes/grpo/kuhn.toml").read_text("utf-8"))
    settings |= {"overlap": overlap, "seed": seed, "evaluate_every": OVERLAPPED, "num_threads": 1, "sft": None}
    settings["grpo"] |= {"iterations": OVERLAPPED, "groups_per_batch": 32}
    recipe, times = algorithm_of(settings).recipe_type.read(settings), list[float]()
    with tempfile.TemporaryDirectory() as root:
        run = RunFolder.create(Path(root) / "run", recipe, seed, "benchmarks/scale.py")
        bound(recipe, run).train(lambda step, steps, metrics: times.append(time.perf_counter()))
    return times[-2] - times[0]


def overlap_table(number: int, rounds: int) -> str:
    """Measure steps a minute without and with `overlap`, in turn by the same workers, and return the table."""
    workers, seconds = Processes(number, 1), {0: 0.0, 1: 0.0}
    with change_plan(workers=workers), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        time_steps(0, 0)
        for seed in range(1, rounds + 1):
            for overlap in seconds:
                seconds[overlap] += time_steps(overlap, seed)
    workers.close()
    speeds = {overlap: 60.0 * rounds * (OVERLAPPED - 2) / spent for overlap, spent in seconds.items()}
    return (
        f"| steps a minute, {number} workers | without overlap | with overlap | ratio |\n| --- | --- | --- | --- |\n"
        f"| GRPO, Kuhn poker | {speeds[0]:.1f} | {speeds[1]:.1f} | {speeds[1] / speeds[0]:.2f} |"
    )


def main() -> None:
    """Print a row a case, a column a number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2], help="numbers of ranks that learn together")
    parser.add_argument("--overlap", type=int, default=2, help="number of workers that play ahead; 0 is none")
    asked = parser.parse_args()
    use_threads(1)
    cores = len(os.sched_getaffinity(0))
    print(f"python {platform.python_version()}, {platform.machine()}, {cores} cores, one thread each")
    print("| work | unit | in process |", " | ".join(f"{number} workers" for number in asked.workers), "| equal |")
    print("| --- | --- |", " --- |" * (len(asked.workers) + 2))
    for name in asked.only:
        case = CASES[name]
        alone, expected = measured(case, InProcess(), asked.rounds)
        cells, equal = [f"{alone:,.0f} an hour"], True
        for number in asked.workers:
            workers = Processes(number, 1)
            speed, results = measured(case, workers, asked.rounds)
            workers.close()
            equal = equal and results == expected
            cells.append(f"{speed / alone:.2f}")
        print(f"| {name} | {case.unit} |", " | ".join(cells), "|", "yes |" if equal else "no |", flush=True)
    if asked.overlap:
        print("\n" + overlap_table(asked.overlap, asked.rounds), flush=True)
    if asked.ranks:
        print("\n" + scale_ranks.table(asked.ranks), flush=True)


if __name__ == "__main__":
    main()
