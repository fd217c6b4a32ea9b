"""REINFORCE with a baseline for each seat against two controls in self-play: runs, and the table of the page.

`python experiments/reinforce.py runs/reinforce kuhn` makes the runs that are missing, and so does `tic-tac-toe`;
`python experiments/reinforce.py runs/reinforce table` adds finished runs to docs/results/reinforce.json and prints the
table. Call it from the project's root, in a clean clone. All arms start from one SFT model of the game, play the same
number of episodes, take the same number of optimizer steps, and have the same loss and learning rate.

`reinforce` The baseline is a moving average for each seat.
`rloo`      The same runs; the baseline is the mean of the seat's other episodes in the batch. Nothing else differs.
`grpo`      GRPO: episodes of one deal make a group, and advantages are divided by the group's standard deviation.

The family of tests was declared before these runs: `reinforce` less each control, in exploitability (Kuhn poker) and in
the win rates against `random` and `mcts:10` (tic-tac-toe); two-sided sign flips of the differences between runs of one
seed, with Holm's correction over all six.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from experiment import command_line, run
from result_tables import Row, finished, markdown, merged, read_results, write_results

from stratagem.base.files import finite
from stratagem.base.provenance import provenance
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import detectable, mean
from stratagem.sweeps.comparison import BySeed, PairedTest, pair_seeds, paired_tests, sign_flips
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

ARMS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "reinforce": ("reinforce", {}),
    "rloo": ("reinforce", {"reinforce.advantage": "rloo"}),
    "grpo": ("grpo", {}),
}
"""Algorithm of each arm, and what is changed in its recipe."""
CONTROLS = ("rloo", "grpo")
SEEDS = range(5, 17)
"""Seeds 0 to 4 were seen before the family was declared."""
OUT = Path("docs/results/reinforce.json")
SHORT = {
    "kuhn": {
        "opponents": '["NashApprox"]',
        "validation_episodes": "2",
        "test_episodes": "2",
        "ALGORITHM.iterations": "40",
    },
    "tic-tac-toe": {"evaluate_every": "30", "validation_episodes": "1", "ALGORITHM.iterations": "30"},
}
"""Changes in the recipes of all arms, so that all runs fit into minutes of one core."""
METRICS = (
    ("kuhn", "exploitability"),
    ("tic-tac-toe", "win rate against random"),
    ("tic-tac-toe", "win rate against mcts:10"),
)
TESTS = {f"{game}, {metric}, {control}": (game, metric, control) for game, metric in METRICS for control in CONTROLS}
"""Game, metric and control of every declared test."""
FAMILY = Family("REINFORCE less its controls", tuple(TESTS))


def runs(folder: Path, game: str, seeds: Iterable[int]) -> Iterator[PlannedRun]:
    """The SFT model, and then all arms of every seed."""
    recipe = Path("recipes/reinforce") / f"{game}.toml"
    sft = {**_short(game, "reinforce"), "reinforce.iterations": "1"}
    yield PlannedRun(f"{game}-sft", (recipe,), sft, first=True)
    start = {"model": f"run:{folder}/{game}-sft@start", "sft.epochs": "0"}
    for seed in seeds:
        for arm, (algorithm, own) in ARMS.items():
            changes = {**_short(game, algorithm), **own, **start, "seed": str(seed)}
            yield PlannedRun(f"{game}-{arm}-{seed}", (Path("recipes") / algorithm / f"{game}.toml",), changes)


def _short(game: str, algorithm: str) -> dict[str, str]:
    return {name.replace("ALGORITHM", algorithm): value for name, value in SHORT[game].items()}


def figures(path: Path, game: str) -> dict[str, float]:
    """Return the measures of the last policy of a run, and of the policy that it started from."""
    if game == "kuhn":
        curve = read_metrics(RunFolder.open(path))["kuhn/exact/exploitability"].values
        return {"exploitability": curve[-1], "exploitability at the start": curve[0]}
    data = json.loads((path / "evaluation.json").read_text(encoding="utf-8"))
    titles = data["rows"]  # random play has none
    rows = {titles.get(row["player"], ""): row for row in data["evaluation"]["games"][0]["players"]}
    last = next(row for title, row in reversed(rows.items()) if "step" in title)
    return {f"win rate against {name}": value for name, value in wins(last).items()}


def wins(row: Row) -> dict[str, float]:
    """Return the win rates by opponent."""
    return {matchup["opponent"]: float(matchup["win_rate"]["mean"]) for matchup in row["opponents"]}


def collected(folder: Path) -> Iterator[Row]:
    """Yield every finished run with its seed, arm, figures, command and commit."""
    for own in finished(folder):
        game, _, arm = own.stem.rpartition("-")
        if arm in ARMS:
            yield {"game": game, "arm": arm, "seed": own.seed, **figures(own.path, game), **own.provenance()}


def by_seed(rows: Sequence[Row], game: str, metric: str, arm: str) -> BySeed:
    """Return the metric of an arm by seed, as far as the seed was declared."""
    own = [row for row in rows if (row["game"], row["arm"]) == (game, arm)]
    return {row["seed"]: row[metric] for row in own if row["seed"] in SEEDS}


def tested(rows: Sequence[Row]) -> list[Row]:
    """Test REINFORCE less each control, where at least two seeds have both."""
    arms = {name: [by_seed(rows, *test[:2], arm) for arm in ("reinforce", test[2])] for name, test in TESTS.items()}
    differences = {name: gap for name, (own, other) in arms.items() if len(gap := pair_seeds(own, other)) > 1}
    tests = paired_tests(FAMILY, differences, sign_flips(Key(0).at("experiments", "reinforce")))
    return [_row(test, *arms[name]) for name, test in tests.items()]


def _row(test: PairedTest, own: BySeed, control: BySeed) -> Row:
    game, metric, name = TESTS[test.name]
    seeds, estimate = list(test.by_seed), test.estimate
    return {
        "game": game,
        "metric": metric,
        "control": name,
        "seeds": seeds,
        "means": [mean([arm[seed] for seed in seeds]).mean for arm in (own, control)],
        "difference": estimate.mean,
        "standard error": estimate.se,
        "p": test.p,
        "detectable": finite(detectable(estimate)),
        "p (Holm)": test.holm_p,
    }


def table(folder: Path) -> None:
    """Add the runs of a folder to the JSON, and print the table of the page."""
    old: dict[str, list[Row]] = {}
    for row in read_results(OUT).get("runs", []):
        old.setdefault(_arm(row), []).append(row)
    by_arm = merged(old, ((_arm(row), row) for row in collected(folder)))
    rows = [row for own in by_arm.values() for row in own]
    tests = tested(rows)
    write_results(OUT, {"made by": provenance(), "tests": tests, "runs": rows})
    heads = [
        "game",
        "metric",
        "control",
        "seeds",
        "REINFORCE",
        "control",
        "difference",
        "p",
        f"p (Holm, {len(FAMILY)})",
    ]
    print(markdown(heads, map(_cells, tests)))


def _arm(row: Row) -> str:
    """Name the arm of a run with its game."""
    return f"{row['game']}-{row['arm']}"


def _cells(test: Row) -> list[str]:
    means = [f"{value:.3f}" for value in test["means"]]
    difference = f"{test['difference']:+.3f} ± {test['standard error']:.3f}"
    names = [test["game"], test["metric"], test["control"], str(len(test["seeds"]))]
    return [*names, *means, difference, f"{test['p']:.3f}", f"{test['p (Holm)']:.3f}"]


def main() -> None:
    """Make the runs of a game, or the table."""
    arguments = command_line(__doc__, [*SHORT, "table"], seeds=SEEDS).parse_args()
    if arguments.study == "table":
        table(arguments.folder)
        return
    run(runs(arguments.folder, arguments.study, arguments.seeds), arguments)


if __name__ == "__main__":
    main()
