"""The tables and pictures of docs/results/sco-pal.md from the runs of experiments/scopal.py.

`python experiments/scopal_table.py runs/scopal docs/results/sco-pal.json --pictures docs/results/sco-pal` puts every
finished run into the JSON, in the place of one of the same variant and seed that is there already, prints the tables in
Markdown, an analysis each, and draws a picture of each. A figure is the mean over games of the share of games won
(a tie is half a one), against all opponents of the final evaluation. Its interval is over games where there is one
seed, and over seeds otherwise. A folder without runs gives the tables of the runs that the JSON has already, so
`python experiments/scopal_table.py runs/scopal-smollm2 docs/results/sco-pal-smollm2.json` prints those of SmolLM2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from dots import Dot, picture
from result_tables import (
    FinishedRun,
    Row,
    finished,
    interval,
    markdown,
    merged,
    read_results,
    table_command_line,
    write_results,
)
from scopal import ALONE, DIRECT, EQUAL, FRESH, JUDGED, MAIN, MANY, REFINED, RELATIVE, STAGED, UNTRAINED
from scopal import ANALYSES as TRAINED
from scopal_play import by_game, kuhn, played, policies, samples
from step_labels import label_table, labels

from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import Estimate, mean, with_interval
from stratagem.sweeps.comparison import BySeed, pair_seeds, paired_tests, students

ANALYSES = {**TRAINED, "smollm2": (DIRECT,)}
WITH_CHANCE = {"main": MAIN, "smollm2": DIRECT}
"""Analyses that show random play, and the variant that has it."""
TITLES = {
    "reader": "from a base that reads tic-tac-toe",
    "equal": "methods by their number of optimizer steps",
    UNTRAINED: "beside untrained weights",
}
"""Titles of pictures, where the name of the analysis says too little."""
MOST_STEPS = tuple(name for name, (_, steps) in EQUAL.items() if steps == MANY)
"""Variants of the methods with the most optimizer steps: KTO, DPO, GRPO."""
CHANCE = "random"
"""The row that no stage of a run is."""
LABELS = {JUDGED: "BC, then GRPO on fresh rollouts", UNTRAINED: "untrained weights"}
"""Names of rows whose last stage does not tell what they are. FRESH has this row, by the games of all others."""
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


def row(run: FinishedRun) -> Row:
    """Collect the figures of a run."""
    figures = stages(run.read("evaluation.json"))
    own = [name for name in figures if name != CHANCE]
    play = {**played(run.path), "kuhn": policies(run.path, own), "labels": labels(run.path / "steps" / "0.parquet")}
    return {"seed": run.seed, **run.provenance(), **play, "stages": figures}


def stages(data: Mapping[str, Any]) -> dict[str, Any]:
    """By stage, in order: the share of games won in every game, and against every opponent."""
    rows: dict[str, Any] = {}
    for game in data["evaluation"]["games"]:
        for player in game["players"]:
            title = data["rows"].get(player["player"], player["player"])
            stage = rows.setdefault(title, {"games": {}, "opponents": {}})
            stage["games"][game["game"]] = {key: player["metrics"]["win rate"][key] for key in ("mean", "se")}
            if regret := player["metrics"].get("regret"):
                stage.setdefault("regret", {})[game["game"]] = {key: regret[key] for key in ("mean", "se")}
            for matchup in player["opponents"]:
                stage["opponents"].setdefault(matchup["opponent"], {})[game["game"]] = matchup["win_rate"]["mean"]
    return rows


def won(stage: Mapping[str, Any]) -> Estimate:
    """The mean over games, whose errors are independent."""
    means = [game["mean"] for game in stage["games"].values()]
    se = math.sqrt(math.fsum(game["se"] ** 2 for game in stage["games"].values())) / len(means)
    centre = math.fsum(means) / len(means)
    return Estimate(centre, se, len(means), centre - 1.96 * se, centre + 1.96 * se)


def over_seeds(runs: Sequence[Row], stage: str) -> Estimate:
    """The same over runs; where there are several, with the interval of the seeds."""
    rates = [won(run["stages"][stage]) for run in runs]
    return rates[0] if len(rates) == 1 else with_interval([rate.mean for rate in rates])


def lines(analysis: str, data: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Sequence[Row], str]]:
    """The rows of an analysis: what it is called, whose it is, and the stage."""
    for variant in ANALYSES[analysis]:
        if variant in data and variant != FRESH:
            runs = data[variant]
            every = [name for name in runs[0]["stages"] if name != CHANCE]
            shown = every if variant in STAGED else every[-1:]
            for stage in shown:
                usual = stage if variant in (*STAGED, *REFINED, *ALONE) else f"{variant}: {stage}"
                yield LABELS.get(variant, usual), runs, stage
    if analysis in WITH_CHANCE and WITH_CHANCE[analysis] in data:
        yield "random play", data[WITH_CHANCE[analysis]], CHANCE


def table(analysis: str, data: Mapping[str, Sequence[Row]]) -> str:
    """Format an analysis in Markdown."""
    rows = list(lines(analysis, data))
    first = rows[0][1][0]["stages"][rows[0][2]]
    games, opponents = list(first["games"]), list(first["opponents"])
    cells = ([label, str(len(runs)), *_rates(runs, stage, opponents, games)] for label, runs, stage in rows)
    return markdown(["", "seeds", "all", *opponents, *games], cells)


def _rates(runs: Sequence[Row], stage: str, opponents: Sequence[str], games: Sequence[str]) -> Iterator[str]:
    """Yield the share of games won, in percent: overall, by opponent, and by game."""
    whole = over_seeds(runs, stage)
    half = (whole.high - whole.low) / 2 if whole.high is not None and whole.low is not None else math.nan
    yield f"{100 * whole.mean:.1f} \u00b1 {100 * half:.1f}"
    for opponent in opponents:
        rates = [mean(list(run["stages"][stage]["opponents"][opponent].values())).mean for run in runs]
        yield f"{100 * mean(rates).mean:.1f}"
    for game in games:
        yield f"{100 * mean([run['stages'][stage]['games'][game]['mean'] for run in runs]).mean:.1f}"


def regrets(data: Mapping[str, Sequence[Row]]) -> str:
    """Format the regret of the main run's stages where play can be solved (Table 6)."""
    runs = data[MAIN]
    names = list(runs[0]["stages"])
    games = list(runs[0]["stages"][names[0]].get("regret", {}))
    means = {
        name: [mean([run["stages"][name]["regret"][game]["mean"] for run in runs]).mean for game in games]
        for name in names
    }
    return markdown(["", *games], ([name, *(f"{value:.4f}" for value in own)] for name, own in means.items()))


def stage_tests(runs: Sequence[Row]) -> str:
    """Compare each stage with each earlier one, paired by seed: the p of Student's t-test, and Holm's."""
    names = [name for name in runs[0]["stages"] if name != CHANCE]
    rates = {name: {run["seed"]: won(run["stages"][name]).mean for run in runs} for name in names}
    gaps = {
        f"{later} less {sooner}": pair_seeds(rates[later], rates[sooner]) for sooner, later in combinations(names, 2)
    }
    return _tests(Family("stages of a run", tuple(gaps)), gaps)


def _tests(family: Family, gaps: Mapping[str, BySeed]) -> str:
    """Format the differences in points, with the p of Student's t-test, and Holm's."""
    rows = []
    for name, test in paired_tests(family, gaps, students).items():
        if test.p is not None:
            percent = with_interval([100 * gap for gap in test.by_seed.values()])
            ends = interval(percent, "+.1f")
            rows.append([name, f"{percent.mean:+.1f}", ends, f"{test.p:.4f}", f"{test.holm_p:.4f}"])
    return markdown([f"{family.name}, {len(family)} comparisons", "points more", "95 %", "p", "Holm p"], rows)


def reader_tests(data: Mapping[str, Sequence[Row]]) -> str:
    """Compare methods from a base that reads with the base and with cloning of all replies, paired by seed."""
    return _end_tests("SCO-PAL from a base that reads", data, (MAIN, "grpo"), ("base", "imitate"))


def relative_tests(data: Mapping[str, Sequence[Row]]) -> str:
    """Compare KTO by labels of each situation with KTO by the published labels, and with the base, paired by seed."""
    return _end_tests("KTO by labels of each situation", data, (RELATIVE,), ("kto", "base"))


def step_tests(data: Mapping[str, Sequence[Row]]) -> str:
    """Compare KTO and DPO with GRPO on the same games after the same number of optimizer steps, paired by seed."""
    kto, dpo, grpo = MOST_STEPS
    return _end_tests("methods at 474 optimizer steps", data, [kto, dpo], [grpo])


def fresh_tests(data: Mapping[str, Sequence[Row]]) -> str:
    """Compare GRPO on fresh rollouts with KTO: that of the main run, and after about as many steps, paired by seed."""
    return _end_tests("GRPO on fresh rollouts after cloning", data, [JUDGED], [MAIN, MOST_STEPS[0]])


def null_tests(data: Mapping[str, Sequence[Row]]) -> str:
    """Compare the main run's outcome with the weights before SFT, paired by the deals of a seed."""
    return _end_tests("the main run beside untrained weights", data, [MAIN], [UNTRAINED])


def _end_tests(family: str, data: Mapping[str, Sequence[Row]], methods: Sequence[str], others: Sequence[str]) -> str:
    """Compare the last stages of methods with those of others; `base` is the first stage of the main run."""
    named = {name for name in (*methods, *others) if name != "base"}
    ends = {name: {run["seed"]: won(run["stages"][_ends(run)[1]]).mean for run in data[name]} for name in named}
    ends["base"] = {run["seed"]: won(run["stages"][_ends(run)[0]]).mean for run in data[MAIN]}
    gaps = {f"{one} less {other}": pair_seeds(ends[one], ends[other]) for one in methods for other in others}
    return _tests(Family(family, tuple(gaps)), gaps)


def _ends(run: Row) -> tuple[str, str]:
    """Return the names of the first and the last stage."""
    names = [name for name in run["stages"] if name != CHANCE]
    return names[0], names[-1]


def rates_by_seed(runs: Sequence[Row]) -> Iterator[str]:
    """The main run's stages, and what the last has more than the first."""
    for run in runs:
        rates = [won(run["stages"][name]).mean for name in run["stages"] if name != CHANCE]
        percents = ", ".join(f"{100 * value:.1f}" for value in rates)
        yield f"{run['seed']}: {percents}; {100 * (rates[-1] - rates[0]):+.1f}"


def drawn(analysis: str, data: Mapping[str, Sequence[Row]]) -> str:
    """The picture of an analysis."""
    dots = []
    for label, runs, stage in lines(analysis, data):
        whole = over_seeds(runs, stage)
        dots.append(Dot(label, whole.mean, whole.low or 0.0, whole.high or 1.0, label == "BC + KTO"))
    low = math.floor(10 * min(dot.low for dot in dots)) / 10
    high = math.ceil(10 * max(dot.high for dot in dots)) / 10
    title = TITLES.get(analysis, analysis)
    return picture(dots, f"{title}: share of games won, mean over games and opponents", low, high)


TESTS = (
    ("from a base that reads", tuple(ALONE), reader_tests),
    ("labels of each situation", (RELATIVE, "kto"), relative_tests),
    ("at equal steps", MOST_STEPS, step_tests),
    ("on fresh rollouts", (JUDGED, *MOST_STEPS), fresh_tests),
    ("beside untrained weights", (UNTRAINED,), null_tests),
)
"""Families of tests: the title, the variants beside the main run, and the function that makes the table."""


def sections(data: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of every section below the analyses."""
    yield "samples", samples(data)
    if MAIN in data:
        first = data[MAIN][0]
        if first.get("by_game"):  # a record of an earlier version may lack it
            yield "samples by game", by_game(first)
        if first.get("kuhn"):
            yield "kuhn against equilibrium", kuhn(first)
        if any(run.get("labels") for run in data[MAIN]):
            yield "labels", label_table(data[MAIN])
        yield "regret", regrets(data)
        yield "by seed", "\n".join(rates_by_seed(data[MAIN]))
    for name in WITH_CHANCE.values():
        if name in data:
            yield "stages", stage_tests(data[name])
    for title, needed, tests in TESTS:
        if {MAIN, *needed} <= data.keys():
            yield title, tests(data)


def main() -> None:
    """Write the JSON and the pictures, and print the tables."""
    parser = table_command_line(__doc__)
    parser.add_argument("--pictures", type=Path, help="prefix of the pictures' names")
    parser.add_argument("--only", nargs="+", choices=[*ANALYSES], default=[*ANALYSES], help="these analyses alone")
    parser.add_argument("--seeds", nargs="+", type=int, default=[], help="tables of these seeds; by default of all")
    arguments = parser.parse_args()
    every = merged(read_results(arguments.out), ((run.stem, row(run)) for run in finished(arguments.folder)))
    every = dict(sorted(every.items()))
    write_results(arguments.out, every)
    data = {name: own for name, runs in every.items() if (own := _of_seeds(runs, arguments.seeds))}
    for analysis in arguments.only:
        variants = ANALYSES[analysis]
        if any(name in data for name in variants if name != MAIN or analysis == "main"):
            published = f"SCO-PAL: {PAPER[analysis]}.\n\n" if analysis in PAPER else ""
            print(f"\n## {analysis}\n\n{published}{table(analysis, data)}")
            if arguments.pictures:
                path = arguments.pictures.with_name(f"{arguments.pictures.name}-{analysis}.svg")
                path.write_text(drawn(analysis, data), encoding="utf-8")
    for title, text in sections(data):
        print(f"\n## {title}\n\n{text}")


def _of_seeds(runs: Sequence[Row], seeds: Sequence[int]) -> list[Row]:
    return [run for run in runs if not seeds or run["seed"] in seeds]


if __name__ == "__main__":
    main()
