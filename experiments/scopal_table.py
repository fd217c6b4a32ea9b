"""The tables and pictures of docs/results/sco-pal.md from the runs of experiments/scopal.py.

`python experiments/scopal_table.py runs/scopal docs/results/sco-pal.json --pictures docs/results/sco-pal` puts every
finished run into the JSON, in the place of one of the same variant and seed that is there already, prints the tables in
Markdown, an analysis each, and draws a picture of each. A figure is the mean over games of the share of games won
(a tie is half a one), against all opponents of the judge; its interval is that of the games played, and over several
seeds that of the seeds. Where the folder holds no run, the tables are those of what the JSON holds already.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from dots import Dot, picture
from scopal import ANALYSES, MAIN, REFINED, STAGED
from scopal_play import by_game, kuhn, played, policies, samples

from stratagem.evaluation.family import Family
from stratagem.evaluation.statistics import Estimate, mean, students_p, with_interval
from stratagem.reports.siblings import band

Run = dict[str, Any]
CHANCE = "random"
"""The row that no stage of a run is."""
_NAME = re.compile(r"(?P<variant>.+)-(?P<seed>\d+)")
PAPER = {
    "main": "Qwen2-7B, four opponents: base 32.17, SPAG 41.70, won games cloned 43.50, SCO-PAL 50.08",
    "methods": "direct KTO 44.89, joint 45.49, BC + DPO 40.52, BC + KTO 50.08, BC + GRPO 54.87",
    "opponents": "self-play best, then weaker and stronger opponents (Figure 2)",
    "scaling": "both scalings of the games against MCTS(5) lower the win rate (Figure 3)",
    "imitation": "rises with the teacher and falls again; MCTS(5) best (Figure 5)",
    "iterations": "rises, and falls a little in the third (Figure 7)",
    "temperature": ".7 best (Figure 9)",
    "balance": "balanced better (Figure 8)",
    "estimators": "win rate 50.08, discounted 48.66, beta 36.77",
}
"""Published results of SCO-PAL by analysis."""


def found(folder: Path) -> Iterator[tuple[str, Run]]:
    """Every finished run: its variant and its figures."""
    for path in sorted(folder.glob("*/evaluation.json")):
        if said := _NAME.fullmatch(path.parent.name):
            info = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
            known = {key: info[key] for key in ("seed", "commit", "command", "dirty")}
            figures = stages(path)
            own = [name for name in figures if name != CHANCE]
            kept = {**played(path.parent), "kuhn": policies(path.parent, own)}
            yield said["variant"], {**known, **kept, "stages": figures}


def stages(path: Path) -> dict[str, Any]:
    """By stage, in order: the share of games won in every game, and against every opponent."""
    data = json.loads(path.read_text(encoding="utf-8"))
    rows: dict[str, Any] = {}
    for game in data["evaluation"]["games"]:
        for row in game["players"]:
            stage = rows.setdefault(data["rows"].get(row["player"], row["player"]), {"games": {}, "opponents": {}})
            stage["games"][game["game"]] = {key: row["metrics"]["win rate"][key] for key in ("mean", "se")}
            if regret := row["metrics"].get("regret"):
                stage.setdefault("regret", {})[game["game"]] = {key: regret[key] for key in ("mean", "se")}
            for bout in row["opponents"]:
                stage["opponents"].setdefault(bout["opponent"], {})[game["game"]] = bout["win_rate"]["mean"]
    return rows


def merged(old: Mapping[str, Sequence[Run]], runs: Iterator[tuple[str, Run]]) -> dict[str, list[Run]]:
    """By variant, a run a seed; a new one takes the place of an old one."""
    whole = {name: {run["seed"]: run for run in told} for name, told in old.items()}
    for name, run in runs:
        whole.setdefault(name, {})[run["seed"]] = run
    return {name: [told[seed] for seed in sorted(told)] for name, told in sorted(whole.items())}


def won(stage: Mapping[str, Any]) -> Estimate:
    """The mean over games, whose errors are independent."""
    means = [game["mean"] for game in stage["games"].values()]
    se = math.sqrt(math.fsum(game["se"] ** 2 for game in stage["games"].values())) / len(means)
    centre = math.fsum(means) / len(means)
    return Estimate(centre, se, len(means), centre - 1.96 * se, centre + 1.96 * se)


def over_seeds(runs: Sequence[Run], stage: str) -> Estimate:
    """The same over runs; where there are several, with the interval of the seeds."""
    each = [won(run["stages"][stage]) for run in runs]
    if len(each) == 1:
        return each[0]
    means = [one.mean for one in each]
    low, high = band(means)
    return Estimate(mean(means).mean, None, len(means), low, high)


def last(run: Run) -> str:
    """The last stage of a run, before the chance level."""
    return [name for name in run["stages"] if name != CHANCE][-1]


def lines(analysis: str, data: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, Sequence[Run], str]]:
    """The rows of an analysis: what it is called, whose it is, and the stage."""
    for variant in ANALYSES[analysis]:
        if variant in data:
            runs = data[variant]
            every = [name for name in runs[0]["stages"] if name != CHANCE]
            shown = every if variant in STAGED else every[-1:]
            for stage in shown:
                yield (stage if variant in (*STAGED, *REFINED) else f"{variant}: {stage}"), runs, stage
    if analysis == "main" and MAIN in data:
        yield "random play", data[MAIN], CHANCE


def table(analysis: str, data: Mapping[str, Sequence[Run]]) -> list[str]:
    """An analysis in Markdown."""
    rows = list(lines(analysis, data))
    games = list(rows[0][1][0]["stages"][rows[0][2]]["games"])
    opponents = list(rows[0][1][0]["stages"][rows[0][2]]["opponents"])
    heads = ["", "seeds", "all", *opponents, *games]
    drawn = [heads, ["---"] * len(heads)]
    for label, runs, stage in rows:
        whole = over_seeds(runs, stage)
        half = (whole.high - whole.low) / 2 if whole.high is not None and whole.low is not None else math.nan
        against = [against_all(runs, stage, opponent) for opponent in opponents]
        by_game = [mean([run["stages"][stage]["games"][game]["mean"] for run in runs]).mean for game in games]
        cells = [f"{100 * value:.1f}" for value in (*against, *by_game)]
        drawn.append([label, str(len(runs)), f"{100 * whole.mean:.1f} \u00b1 {100 * half:.1f}", *cells])
    return [f"| {' | '.join(cells)} |" for cells in drawn]


def against_all(runs: Sequence[Run], stage: str, opponent: str) -> float:
    """The mean over games against one opponent, over runs."""
    return mean([mean(list(run["stages"][stage]["opponents"][opponent].values())).mean for run in runs]).mean


def regrets(data: Mapping[str, Sequence[Run]]) -> Iterator[str]:
    """Regret of the main run's stages where play can be solved (Table 6)."""
    runs = data[MAIN]
    games = list(next(iter(runs[0]["stages"].values())).get("regret", {}))
    yield f"| | {' | '.join(games)} |"
    yield f"| --- |{' --- |' * len(games)}"
    for stage in runs[0]["stages"]:
        cells = [mean([run["stages"][stage]["regret"][game]["mean"] for run in runs]).mean for game in games]
        yield f"| {stage} | {' | '.join(f'{cell:.4f}' for cell in cells)} |"


def stage_tests(runs: Sequence[Run]) -> Iterator[str]:
    """Compare each stage with each earlier one, paired by seed: the p of Student's t-test, and Holm's."""
    names = [name for name in runs[0]["stages"] if name != CHANCE]
    pairs = {f"{later} less {sooner}": (later, sooner) for sooner, later in combinations(names, 2)}
    gaps = {
        name: with_interval([won(run["stages"][later]).mean - won(run["stages"][sooner]).mean for run in runs])
        for name, (later, sooner) in pairs.items()
    }
    raw = {name: students_p(gap) for name, gap in gaps.items()}
    adjusted = Family("the main run's stages, every pair", tuple(pairs)).holm(raw)
    yield f"| the main run's stages, {len(pairs)} comparisons | points more | 95 % | p | Holm p |"
    yield "| --- | --- | --- | --- | --- |"
    for name, gap in gaps.items():
        if (p := raw[name]) is not None and gap.low is not None and gap.high is not None:
            ends = f"[{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
            yield f"| {name} | {100 * gap.mean:+.1f} | {ends} | {p:.4f} | {adjusted[name]:.4f} |"


def by_seed(runs: Sequence[Run]) -> Iterator[str]:
    """The main run's stages, and what the last has more than the first."""
    for run in runs:
        each = [won(run["stages"][name]).mean for name in run["stages"] if name != CHANCE]
        told = ", ".join(f"{100 * value:.1f}" for value in each)
        yield f"{run['seed']}: {told}; {100 * (each[-1] - each[0]):+.1f}"


def drawn(analysis: str, data: Mapping[str, Sequence[Run]]) -> str:
    """The picture of an analysis."""
    dots = []
    for label, runs, stage in lines(analysis, data):
        whole = over_seeds(runs, stage)
        dots.append(Dot(label, whole.mean, whole.low or 0.0, whole.high or 1.0, label == "BC + KTO"))
    low = math.floor(10 * min(dot.low for dot in dots)) / 10
    high = math.ceil(10 * max(dot.high for dot in dots)) / 10
    return picture(dots, f"{analysis}: share of games won, mean over games and opponents", low, high)


def main() -> None:
    """Write the JSON and the pictures, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("out", type=Path, help="the JSON file to go on with")
    parser.add_argument("--pictures", type=Path, help="what the pictures' names begin with")
    parser.add_argument("--only", nargs="+", choices=[*ANALYSES], default=[*ANALYSES], help="these analyses alone")
    parser.add_argument("--seeds", nargs="+", type=int, default=[], help="tell of these alone; by default of all")
    asked = parser.parse_args()
    old = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.is_file() else {}
    every = merged(old, found(asked.folder))
    asked.out.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    data = {name: kept for name, runs in every.items() if (kept := _of_seeds(runs, asked.seeds))}
    for analysis in asked.only:
        variants = ANALYSES[analysis]
        if any(name in data for name in variants if name != MAIN) or (analysis == "main" and MAIN in data):
            print(f"\n## {analysis}\n\nSCO-PAL: {PAPER[analysis]}.\n", *table(analysis, data), sep="\n")
            if asked.pictures:
                path = asked.pictures.with_name(f"{asked.pictures.name}-{analysis}.svg")
                path.write_text(drawn(analysis, data), encoding="utf-8")
    print("\n## samples\n", *samples(data), sep="\n")
    if MAIN in data:
        first = data[MAIN][0]
        if first.get("by_game"):  # a record of an earlier day may not tell
            print("\n## samples by game\n", *by_game(first), sep="\n")
        if first.get("kuhn"):
            print("\n## kuhn against equilibrium\n", *kuhn(first), sep="\n")
        print("\n## regret\n", *regrets(data), sep="\n")
        print("\n## by seed\n", *by_seed(data[MAIN]), sep="\n")
        print("\n## stages\n", *stage_tests(data[MAIN]), sep="\n")


def _of_seeds(runs: Sequence[Run], seeds: Sequence[int]) -> list[Run]:
    return [run for run in runs if not seeds or run["seed"] in seeds]


if __name__ == "__main__":
    main()
