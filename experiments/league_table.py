"""The runs of experiments/league.py as one JSON with a picture: `python experiments/league_table.py RUNS OUT.json`.

What the JSON holds already stays, but for runs of the same way and seed, so runs may be made in several sittings; where
the folder holds no run, the tables are those of the JSON alone. Prints every pair of ways with p and Holm's p.
Exact exploitability of the main learner over training, by game, way and seed, beside the solvers' curves: the average
policies of CFR and of fictitious play (OpenSpiel's) after as many iterations. `--picture PREFIX` writes a plot a game.
Of populations, what a round paid the learners over training, what their newest checkpoints get from one another, and
what the first of them gets from each frozen opponent, after its SFT and at the end.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from league_picture import picture
from league_tests import FIGURES, differences, figures, markdown
from open_spiel.python.algorithms import cfr, exploitability, fictitious_play

from league import POPULATIONS, WAYS
from stratagem.evaluation.statistics import with_interval
from stratagem.games.catalogue import make_game
from stratagem.provenance import provenance
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import Curve, read_metrics

SPIEL = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}
DIGITS = {"kuhn": 3, "leduc": 2}
"""Of the differences that are printed."""


def curves(runs: Path, game: str, way: str) -> dict[int, Curve]:
    """By seed, of the runs that are finished; steps are counted from the end of the SFT."""
    found = {}
    for seed, folder in finished(runs, f"{game}-{way}"):
        metrics = read_metrics(RunFolder.open(folder))
        curve = next(one for name, one in metrics.items() if name.endswith("/exact/exploitability"))
        found[seed] = Curve([s - curve.steps[0] for s in curve.steps], curve.values)
    return found


def finished(runs: Path, name: str) -> list[tuple[int, Path]]:
    """Seeds and folders of the runs of a name that came to their end."""
    return sorted(
        (int(last.parent.name.rpartition("-")[2]), last.parent) for last in runs.glob(f"{name}-[0-9]*/league.json")
    )


def kept(old: Mapping[str, Any], ways: Sequence[str], name: str = "curves") -> dict[str, dict[int, Curve]]:
    """The curves of a game that the JSON holds already."""
    return {
        way: {int(seed): Curve(curve["steps"], curve["values"]) for seed, curve in old[way].get(name, {}).items()}
        for way in ways
        if way in old
    }


def averages(runs: Path, game: str, way: str) -> dict[int, Curve]:
    """By seed, how exploitable the average of all the main learner's checkpoints was up to each of them."""
    found = {}
    for seed, folder in finished(runs, f"{game}-{way}"):
        line = json.loads((folder / "league.json").read_text()).get("over_time", {}).get("main", [])
        if line:
            first = min(read_metrics(RunFolder.open(folder))["main/points"].steps) - 1
            found[seed] = Curve([one["step"] - first for one in line], [one["average"] for one in line])
    return found


def effective(folder: Path) -> float:
    """Compute the mean effective number of the main learner's opponents over the second half."""
    values = read_metrics(RunFolder.open(folder))["main/effective"].values
    return math.fsum(values[len(values) // 2 :]) / len(values[len(values) // 2 :])


def population(folder: Path) -> dict[str, Any]:
    """Compute the learners' payoffs per round in five parts of the run, and their last cross-play."""
    last = json.loads((folder / "league.json").read_text())
    rounds = make_game(last["game"]).spec.rounds
    found = [curve.values for name, curve in read_metrics(RunFolder.open(folder)).items() if name.endswith("/payoff")]
    paid = np.mean(found, axis=0) / rounds
    newest = {member["parent"]: place for place, member in enumerate(last["members"]) if member["parent"]}
    places = list(newest.values())
    cross = [last["pay"][a][b] for a in places for b in places if a != b]
    evaluated = json.loads((folder / "evaluation.json").read_text())["evaluation"]["games"][0]["players"]
    by_label = {one["player"].rpartition("@")[2]: one for one in evaluated}
    first = last["members"][places[0]]
    return {
        "paid": [float(part.mean()) for part in np.array_split(paid, min(5, len(paid)))],
        "newest": float(np.mean(cross)),
        "start against": _against(by_label["start"]),
        "last against": _against(by_label[f"{first['step']}/{first['parent']}"]),
        "made by": made_by(folder),
    }


def _against(table: Mapping[str, Any]) -> dict[str, float]:
    """Compute a policy's payoff per round against each frozen opponent."""
    return {row["opponent"].rpartition("/")[2]: row["pay"]["mean"] for row in table["opponents"]}


def solvers(game: str, at: Sequence[int]) -> dict[str, list[float]]:
    """Exploitability of the average policies after so many iterations; OpenSpiel's is half of NashConv, as ours."""
    spiel = pyspiel.load_game(SPIEL[game])
    regrets, plays = cfr.CFRSolver(spiel), fictitious_play.XFPSolver(spiel)
    return {
        "CFR": _solved(spiel, regrets, regrets.evaluate_and_update_policy, at),
        "fictitious play": _solved(spiel, plays, plays.iteration, at),
    }


def _solved(game: Any, solver: Any, step: Callable[[], object], at: Sequence[int]) -> list[float]:
    told = []
    for number in range(1, max(at) + 1):
        step()
        if number in at:
            told.append(exploitability.exploitability(game, solver.average_policy()))
    return told


def summed(found: dict[int, Curve]) -> dict[str, Any]:
    """The curves, and over seeds the last value, the mean over the second half, and the most of it."""
    half = [curve.values[len(curve.values) // 2 :] for curve in found.values()]
    end, means = (with_interval([figures(curve)[name] for curve in found.values()]) for name in FIGURES)
    return {
        "curves": {seed: {"steps": curve.steps, "values": curve.values} for seed, curve in found.items()},
        "last": {"mean": end.mean, "low": end.low, "high": end.high},
        "second half": {"mean": means.mean, "low": means.low, "high": means.high},
        "most in the second half": max(max(values) for values in half),
    }


def made_by(folder: Path) -> dict[str, Any]:
    """The commit and the command of a run."""
    info = RunFolder.open(folder).info()
    return {"commit": info.commit, "dirty": info.dirty, "command": info.command}


def of_game(runs: Path, game: str, before: Mapping[str, Any], drawn: Path | None) -> dict[str, Any]:
    """All that is told of a game; empty where nothing is known of it."""
    known = WAYS[game]
    new = {way: curves(runs, game, way) for way in known}
    was = kept(before, known)
    ways = {way: found for way in known if (found := dict(sorted({**was.get(way, {}), **new[way]}.items())))}
    if not ways:
        return {}
    at = sorted({step for some in ways.values() for curve in some.values() for step in curve.steps if step})
    solved = solvers(game, at)
    told = {
        way: summed(found) | beside(runs, f"{game}-{way}", new[way], before.get(way, {})) for way, found in ways.items()
    }
    means = {way: {**kept(before, [way], "averages").get(way, {}), **averages(runs, game, way)} for way in ways}
    for way, found in ways.items():
        told[way] |= averaged(means[way])
        shown = {k: v for k, v in told[way].items() if k not in ("curves", "averages", "made by")}
        print(f"{game} {way:7} {len(found)} seeds", shown)
    if drawn:
        Path(f"{drawn}-{game}.svg").write_text(picture(game, ways, solved, at))
    of_last, of_average = (differences(some, known) for some in (ways, means))
    print("", *markdown(game, of_last, of_average, DIGITS[game]), "", sep="\n")
    apart = {"differences": of_last, "differences of averages": of_average}
    return told | {"solvers": {"at": at, **solved}, **apart}


def beside(runs: Path, name: str, seeds: Iterable[int], before: Mapping[str, Any]) -> dict[str, Any]:
    """By seed, whom the main learner met and what made the run."""
    met = before.get("effective opponents", {}) | {str(seed): effective(runs / f"{name}-{seed}") for seed in seeds}
    made = before.get("made by", {}) | {str(seed): made_by(runs / f"{name}-{seed}") for seed in seeds}
    return {"effective opponents": dict(sorted(met.items())), "made by": dict(sorted(made.items()))}


def averaged(means: Mapping[int, Curve]) -> dict[str, Any]:
    """The curves of the averages, and over seeds where they end."""
    if not means:
        return {}
    end = with_interval([curve.values[-1] for curve in means.values()])
    return {
        "averages": {seed: {"steps": curve.steps, "values": curve.values} for seed, curve in sorted(means.items())},
        "last average": {"mean": end.mean, "low": end.low, "high": end.high},
    }


def main() -> None:
    """Read the runs and write what they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--picture", type=Path, help="where plots go, as PREFIX-GAME.svg")
    asked = parser.parse_args()
    old = json.loads(asked.out.read_text()) if asked.out.is_file() else {"games": {}, "populations": {}}
    told: dict[str, Any] = {"made_by": provenance(), "games": {}, "populations": old["populations"]}
    for name in POPULATIONS:
        for seed, folder in finished(asked.runs, name):
            told["populations"].setdefault(name, {})[str(seed)] = population(folder)
    for name, seeds in told["populations"].items():
        for seed, row in seeds.items():
            met = {opponent: round(paid, 2) for opponent, paid in row["last against"].items()}
            print(f"{name} {seed}: paid {[round(paid, 2) for paid in row['paid']]}, newest {row['newest']:.2f}, {met}")
    for game in WAYS:
        found = of_game(asked.runs, game, old["games"].get(game, {}), asked.picture)
        if found:
            told["games"][game] = found
    asked.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
