"""The runs of experiments/league.py as one JSON with a picture: `python experiments/league_table.py RUNS OUT.json`.

What the JSON holds already stays, but for runs of the same way and seed, so runs may be made in several sittings; where
the folder holds no run, the tables are those of the JSON alone. Prints every pair of ways with p and Holm's p.
Exact exploitability of the main learner over training, by game, way and seed, beside the solvers' curves: the average
policies of CFR and of fictitious play (OpenSpiel's) after as many iterations. `--picture PREFIX` writes a plot a game.
Of populations, what a round paid the learners over training, what their newest checkpoints get from one another, and
what the first of them gets from each frozen opponent, after its SFT and at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from league_picture import picture
from league_tests import FIGURES, differences, figures, table
from open_spiel.python.algorithms import cfr, exploitability, fictitious_play
from result_tables import FinishedRun, finished, read_results, table_command_line, write_results

from league import POPULATIONS, WAYS
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.measure.statistics import Estimate, with_interval
from stratagem.training.runs.metrics import Curve, read_metrics

SPIEL = {"kuhn": "kuhn_poker", "leduc": "leduc_poker", "smollm2": "kuhn_poker"}
DIGITS = {"kuhn": 3, "leduc": 2, "smollm2": 3}
"""Of the differences that are printed."""


def finished_by_seed(folder: Path, name: str) -> dict[int, FinishedRun]:
    """Return the finished runs of a name by seed."""
    runs = {run.seed: run for run in finished(folder) if run.stem == name}
    return dict(sorted(runs.items()))


def curves(folder: Path, game: str, way: str) -> dict[int, Curve]:
    """Return the exact exploitability of finished runs by seed; steps are counted from the end of the SFT."""
    by_seed = {}
    for seed, run in finished_by_seed(folder, f"{game}-{way}").items():
        metrics = read_metrics(run.folder)
        curve = next(curve for name, curve in metrics.items() if name.endswith("/exact/exploitability"))
        by_seed[seed] = Curve([step - curve.steps[0] for step in curve.steps], curve.values)
    return by_seed


def stored(old: Mapping[str, Any], ways: Sequence[str], name: str = "curves") -> dict[str, dict[int, Curve]]:
    """Return the curves of a game that the JSON has already."""
    return {
        way: {int(seed): Curve(curve["steps"], curve["values"]) for seed, curve in old[way].get(name, {}).items()}
        for way in ways
        if way in old
    }


def averages(folder: Path, game: str, way: str) -> dict[int, Curve]:
    """Return the exploitability of the average of the main learner's checkpoints up to each of them, by seed."""
    by_seed = {}
    for seed, run in finished_by_seed(folder, f"{game}-{way}").items():
        checkpoints = run.read("league.json").get("over_time", {}).get("main", [])
        if checkpoints:
            steps = [checkpoint["step"] for checkpoint in checkpoints]
            by_seed[seed] = Curve(steps, [checkpoint["average"] for checkpoint in checkpoints])
    return by_seed


def effective(run: FinishedRun) -> float:
    """Compute the mean effective number of the main learner's opponents over the second half."""
    values = read_metrics(run.folder)["main/effective"].values
    return math.fsum(values[len(values) // 2 :]) / len(values[len(values) // 2 :])


def population(run: FinishedRun) -> dict[str, Any]:
    """Compute the learners' payoffs per round in five parts of the run, and their last cross-play."""
    last = run.read("league.json")
    rounds = make_game(last["game"]).spec.rounds
    payoffs = [curve.values for name, curve in read_metrics(run.folder).items() if name.endswith("/payoff")]
    means = np.mean(payoffs, axis=0) / rounds
    newest = {member["parent"]: index for index, member in enumerate(last["members"]) if member["parent"]}
    indices = list(newest.values())
    cross = [last["payoff"][a][b] for a in indices for b in indices if a != b]
    players = run.read("evaluation.json")["evaluation"]["games"][0]["players"]
    by_label = {player["player"].rpartition("@")[2]: player for player in players}
    first = last["members"][indices[0]]
    return {
        "paid": [float(part.mean()) for part in np.array_split(means, min(5, len(means)))],
        "newest": float(np.mean(cross)),
        "start against": _against(by_label["start"]),
        "last against": _against(by_label[f"{first['step']}/{first['parent']}"]),
        "made by": run.provenance(),
    }


def _against(player: Mapping[str, Any]) -> dict[str, float]:
    """Compute a policy's payoff per round against each frozen opponent."""
    return {row["opponent"].rpartition("/")[2]: row["payoff"]["mean"] for row in player["opponents"]}


def solvers(game: str, at: Sequence[int]) -> dict[str, list[float]]:
    """Exploitability of the average policies after so many iterations; OpenSpiel's is half of NashConv, as ours."""
    spiel = pyspiel.load_game(SPIEL[game])
    regrets, plays = cfr.CFRSolver(spiel), fictitious_play.XFPSolver(spiel)
    return {
        "CFR": _solved(spiel, regrets, regrets.evaluate_and_update_policy, at),
        "fictitious play": _solved(spiel, plays, plays.iteration, at),
    }


def _solved(game: Any, solver: Any, step: Callable[[], object], at: Sequence[int]) -> list[float]:
    values = []
    for number in range(1, max(at) + 1):
        step()
        if number in at:
            values.append(exploitability.exploitability(game, solver.average_policy()))
    return values


def summary(by_seed: Mapping[int, Curve]) -> dict[str, Any]:
    """Return the curves, and over seeds the last value, the mean over the second half, and the most of it."""
    half = [curve.values[len(curve.values) // 2 :] for curve in by_seed.values()]
    end, means = (with_interval([figures(curve)[name] for curve in by_seed.values()]) for name in FIGURES)
    return {
        "curves": _as_json(by_seed),
        "last": _ends(end),
        "second half": _ends(means),
        "most in the second half": max(max(values) for values in half),
    }


def average_summary(by_seed: Mapping[int, Curve]) -> dict[str, Any]:
    """Return the curves of the averages, and over seeds their last value."""
    if not by_seed:
        return {}
    end = with_interval([curve.values[-1] for curve in by_seed.values()])
    return {"averages": _as_json(dict(sorted(by_seed.items()))), "last average": _ends(end)}


def _as_json(by_seed: Mapping[int, Curve]) -> dict[int, Any]:
    return {seed: {"steps": curve.steps, "values": curve.values} for seed, curve in by_seed.items()}


def _ends(estimate: Estimate) -> dict[str, float | None]:
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}


def of_game(folder: Path, game: str, old: Mapping[str, Any], pictures: Path | None) -> dict[str, Any]:
    """Return all results of a game, and print them; empty where nothing is known of it."""
    declared = WAYS[game]
    ways = _merged(stored(old, declared), {way: curves(folder, game, way) for way in declared}, declared)
    if not ways:
        return {}
    means = _merged(stored(old, declared, "averages"), {way: averages(folder, game, way) for way in ways}, ways)
    data: dict[str, Any] = {}
    for way, by_seed in ways.items():
        runs = finished_by_seed(folder, f"{game}-{way}")
        data[way] = summary(by_seed) | beside(runs, old.get(way, {})) | average_summary(means.get(way, {}))
        shown = {key: value for key, value in data[way].items() if key not in ("curves", "averages", "made by")}
        print(f"{game} {way:7} {len(by_seed)} seeds", shown)
    at = sorted({step for own in ways.values() for curve in own.values() for step in curve.steps if step})
    solved = solvers(game, at)
    if pictures:
        Path(f"{pictures}-{game}.svg").write_text(picture(game, ways, solved, at))
    of_last, of_average = (differences(some, declared) for some in (ways, means))
    print(f"\n{table(game, of_last, of_average, DIGITS[game])}\n")
    solved_at = {"solvers": {"at": at, **solved}}
    return data | solved_at | {"differences": of_last, "differences of averages": of_average}


def _merged(
    old: Mapping[str, Mapping[int, Curve]], new: Mapping[str, Mapping[int, Curve]], ways: Iterable[str]
) -> dict[str, dict[int, Curve]]:
    """Merge curves by way and seed, a new one over an old one; ways without a curve are left out."""
    merged = {way: dict(sorted({**old.get(way, {}), **new.get(way, {})}.items())) for way in ways}
    return {way: by_seed for way, by_seed in merged.items() if by_seed}


def beside(runs: Mapping[int, FinishedRun], old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the effective number of opponents and the provenance, by seed."""
    opponents = old.get("effective opponents", {}) | {str(seed): effective(run) for seed, run in runs.items()}
    sources = old.get("made by", {}) | {str(seed): run.provenance() for seed, run in runs.items()}
    return {"effective opponents": dict(sorted(opponents.items())), "made by": dict(sorted(sources.items()))}


def populations(folder: Path, old: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of the populations by name and seed, and print them."""
    data = {name: dict(rows) for name, rows in old.items()}
    for name in POPULATIONS:
        for seed, run in finished_by_seed(folder, name).items():
            data.setdefault(name, {})[str(seed)] = population(run)
    for name, rows in data.items():
        for seed, row in rows.items():
            means = {opponent: round(payoff, 2) for opponent, payoff in row["last against"].items()}
            parts = [round(payoff, 2) for payoff in row["paid"]]
            print(f"{name} {seed}: paid {parts}, newest {row['newest']:.2f}, {means}")
    return data


def main() -> None:
    """Write the JSON and the pictures, and print the tables."""
    parser = table_command_line(__doc__)
    parser.add_argument("--picture", type=Path, help="prefix of the plots, as PREFIX-GAME.svg")
    arguments = parser.parse_args()
    old = read_results(arguments.out) or {"games": {}, "populations": {}}
    data: dict[str, Any] = {"made_by": provenance(), "games": {}}
    data["populations"] = populations(arguments.folder, old["populations"])
    for game in WAYS:
        if results := of_game(arguments.folder, game, old["games"].get(game, {}), arguments.picture):
            data["games"][game] = results
    write_results(arguments.out, data)


if __name__ == "__main__":
    main()
