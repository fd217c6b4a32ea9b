"""Self-play in tic-tac-toe that collapses, and what prevents it: runs, exact curves, table and picture of the page.

`python experiments/collapse.py runs/collapse play` makes the runs that are missing: first the model after SFT, from
which all begin, then every arm of a seed before the next seed. `python experiments/collapse.py runs/collapse table`
measures the finished runs that docs/results/collapse.json does not have yet, writes it and the picture, and prints the
table. Call it from the project's root, in a clean clone.

The family of tests was declared before the runs of seeds 0 to 4: each arm less the control, in the regret after the
last iteration and in the largest regret of the measured iterations after the first, by Student's t over pairs of one
seed, with Holm's correction. Settings were chosen with seed 100 of the control alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from collapse_measures import Figures, figures, table_of, uniform
from collapse_picture import picture
from experiment import command_line, run
from result_tables import DASH, FinishedRun, Row, finished, interval, markdown, number, read_results, write_results

from stratagem.base.provenance import provenance
from stratagem.language.models.run_models import read_run_models
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import with_interval
from stratagem.sweeps.comparison import BySeed, PairedTest, pair_seeds, paired_tests, students
from stratagem.sweeps.planned_run import PlannedRun

ARMS: Mapping[str, str] = {
    "self": "plain self-play",
    "role-baseline": "role baseline",
    "ema": "KL to a moving average",
    "frozen": "half against a frozen copy",
    "pfsp": "half against all copies, by PFSP",
    "entropy": "entropy bonus",
}
"""Arms with their names on the page."""
CHANGES: Mapping[str, Mapping[str, str]] = {
    "self": {},
    "role-baseline": {"league.advantage.ema_decay": "0.95"},
    "ema": {
        "reference": '{ type = "ema", ema_decay = 0.95 }',
        "league.loss.kl_estimator": "k3",
        "league.loss.kl_coef": "0.3",
    },
    "frozen": {
        "learners.main.matchmaker": '{ rule = "pfsp", weighting = "uniform", self_play = 0.5 }',
        "league.max_snapshots": "1",
    },
    "pfsp": {
        "with_base": "true",
        "learners.main.matchmaker": '{ rule = "pfsp", weighting = "squared", self_play = 0.5 }',
    },
    "entropy": {"league.loss.entropy_coef": "0.1"},
}
"""Settings of each arm that differ from plain self-play; those of `ema` are also recipes/collapse/ema.toml."""
CONTROL, START = "self", "start-model"
CHANCE = "random play (chance level)"
POINTS = ("end", "worst")
STEPS = range(20, 101, 20)
"""Iterations whose policies are measured."""
RECIPE = Path("recipes/collapse/self.toml")
OUT = Path("docs/results/collapse.json")
TESTS = {f"{arm}, {point}": (arm, point) for arm in ARMS if arm != CONTROL for point in POINTS}
FAMILY = Family("arms less plain self-play, in regret", tuple(TESTS))


def runs(folder: Path, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """Plan the model after SFT, and then all arms of every seed."""
    yield PlannedRun(f"{START}-0", (RECIPE,), {"league.iterations": "1"}, first=True)
    begin = {"model": f"run:{folder}/{START}-0@start", "sft.epochs": "0"}
    for seed in seeds:
        for arm in ARMS:
            yield PlannedRun(f"{arm}-{seed}", (RECIPE,), {**begin, "seed": str(seed), **CHANGES[arm]})


def measured(folder: Path) -> dict[str, Row]:
    """Return the rows of all finished runs; those that the JSON lacks are measured, and it is written after each."""
    rows: dict[str, Row] = read_results(OUT).get("runs", {})
    done = {f"{run.stem}-{run.seed}": run for run in finished(folder)}
    if done.keys() <= rows.keys():
        return rows
    first = done.pop(f"{START}-0")
    table = table_of(f"run:{first.path}@start")
    for name, one in {f"{START}-0": first, **done}.items():
        if name not in rows:
            steps = {"0": table} if one is first else {step: table_of(model) for step, model in snapshots(one)}
            curve = {step: figures(own, table) for step, own in steps.items()}
            rows[name] = {"arm": one.stem, "seed": one.seed, **_provenance(one), "curve": curve}
            write_results(OUT, {"made by": provenance(), "runs": rows})
            print(name, flush=True)
    return rows


def snapshots(one: FinishedRun) -> Iterator[tuple[str, str]]:
    """Yield the iterations of the saved policies of a run, each with its model; also of those that left the league."""
    base = read_run_models(one.path).models["start"].model
    for path in sorted((one.path / "league" / "members").glob("main-*")):
        yield str(int(path.name.rpartition("-")[2])), f"{base}+adapter:{path}"


def _provenance(one: FinishedRun) -> Row:
    own = one.provenance()
    return {**own, "command": own["command"].replace(str(one.path.resolve().parent), "runs/collapse")}


def curves(rows: Mapping[str, Row], arm: str, name: str = "regret") -> dict[int, list[tuple[int, float]]]:
    """Return a figure of an arm over the iterations, by seed; it begins with the model after SFT."""
    begin = rows[f"{START}-0"]["curve"]["0"][name]
    own = (row for row in rows.values() if row["arm"] == arm)
    return {
        row["seed"]: [(0, begin), *((int(step), point[name]) for step, point in row["curve"].items())] for row in own
    }


def at(rows: Mapping[str, Row], arm: str, point: str, name: str = "regret") -> BySeed:
    """Return a figure of an arm by seed: after the last iteration, or its largest after the first."""
    lines = curves(rows, arm, name)
    return {seed: line[-1][1] if point == "end" else max(y for _, y in line[1:]) for seed, line in lines.items()}


def tested(rows: Mapping[str, Row]) -> dict[str, PairedTest]:
    """Test the arms that share two seeds with the control."""
    differences = {
        name: gap
        for name, (arm, point) in TESTS.items()
        if len(gap := pair_seeds(at(rows, arm, point), at(rows, CONTROL, point))) > 1
    }
    return paired_tests(FAMILY, differences, students)


HEADS = ["arm", "seeds", "regret, end", "less control", "p (Holm)", "regret, worst", "less control", "p (Holm)"]
OTHERS = {
    "payoff against the start": "payoff against the start",
    "payoff against random": "random play",
    "payoff against perfect": "perfect play",
    "exploitability": "exploitability",
    "forfeits": "forfeits",
    "illegal in self-play": "illegal replies",
    "length": "length",
    "entropy in self-play": "entropy",
    "regret in self-play": "regret on the way",
}
"""Other figures with their heads; the last five are of self-play."""


def tables(rows: Mapping[str, Row]) -> Iterator[str]:
    """Format the tests, and the other figures after the last iteration."""
    tests = tested(rows)
    begin: Figures = rows[f"{START}-0"]["curve"]["0"]
    chance = chance_level(begin)
    level = [CHANCE, DASH, number(chance["regret"]), *[DASH] * (len(HEADS) - 3)]
    yield markdown(HEADS, [level, *(_tested_row(rows, tests, arm) for arm in ARMS)])
    fixed = [
        [name, *(number(own[figure]) for figure in OTHERS)] for name, own in ((CHANCE, chance), ("the start", begin))
    ]
    means = [[ARMS[arm], *(_mean([*at(rows, arm, "end", name).values()]) for name in OTHERS)] for arm in ARMS]
    yield markdown(["arm", *OTHERS.values()], [*fixed, *means])
    order = sorted((row["seed"], [*ARMS].index(row["arm"]), name) for name, row in rows.items() if row["arm"] in ARMS)
    yield markdown(["run", *map(str, STEPS)], (_curve_row(rows, name) for _, _, name in order))


def chance_level(begin: Figures) -> Figures:
    """Return the figures of random legal play; the start's payoff against it has the opposite sign."""
    chance = uniform()
    return figures(chance, chance) | {"payoff against the start": -begin["payoff against random"]}


def _curve_row(rows: Mapping[str, Row], name: str) -> list[str]:
    """Format what a run's policies lose and win over the iterations."""
    curve = rows[name]["curve"]
    points = (curve[str(step)] for step in STEPS)
    shown = ("regret", "payoff against the start", "forfeits")
    return [
        f"{ARMS[rows[name]['arm']]}, seed {rows[name]['seed']}",
        *(" / ".join(number(p[f], 2) for f in shown) for p in points),
    ]


def _tested_row(rows: Mapping[str, Row], tests: Mapping[str, PairedTest], arm: str) -> list[str]:
    cells = [ARMS[arm], str(len(at(rows, arm, "end")))]
    for point in POINTS:
        own, test = at(rows, arm, point), tests.get(f"{arm}, {point}")
        less = {} if arm == CONTROL else pair_seeds(own, at(rows, CONTROL, point))
        cells += [_mean([*own.values()]), _mean([*less.values()]), number(test.holm_p if test else None)]
    return cells


def _mean(values: Sequence[float]) -> str:
    """Format a mean with its 95 % interval over seeds, or with both values, since an interval of two says nothing."""
    if not values:
        return DASH
    estimate = with_interval(values)
    if len(values) == 2:
        return f"{number(estimate.mean)} ({', '.join(map(number, values))})"
    return f"{number(estimate.mean)} {interval(estimate, '.3f')}".strip()


def table(folder: Path) -> None:
    """Measure, write the JSON and the picture, and print the tables."""
    rows = measured(folder)
    named = {ARMS[arm]: curves(rows, arm) for arm in ARMS}
    OUT.with_suffix(".svg").write_text(picture(named), encoding="utf-8")
    print(*tables(rows), sep="\n\n")


def main() -> None:
    """Make the runs, or the table."""
    arguments = command_line(__doc__, ["play", "table"]).parse_args()
    if arguments.study == "table":
        table(arguments.folder)
        return
    run(runs(arguments.folder, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
