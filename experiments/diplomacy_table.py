"""Table of credit by order: `python experiments/diplomacy_table.py RUNS docs/results/diplomacy-orders.json`.

It adds the finished runs of `experiments/diplomacy_runs.py RUNS orders` or `variants` to a JSON, and prints a row for
each arm, and the declared tests: each arm less `none` in the sum of squares, by sign flips over paired seeds, with
Holm's correction. The figures are those of the last policy in the final evaluation, and not of the best in validation.
Holds and supports are shares of all orders in the rollouts of the last five iterations, void supports one of the
supports.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from diplomacy_runs import ORDERS, VARIANTS
from result_tables import (
    DASH,
    FinishedRun,
    Row,
    finished,
    interval,
    markdown,
    merged,
    number,
    read_results,
    table_command_line,
    write_results,
)

from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.measure.metrics.orders import SUPPORTS, orders_of
from stratagem.measure.statistics import with_interval
from stratagem.playing.store import read_episodes
from stratagem.sweeps.comparison import by_seed, pair_seeds, paired_tests, sign_flips

CONTROL = "none"
FIGURES = ("payoff", "first", "centres", "effective")
"""Metrics of the final evaluation; the first is the sum of squares, which the tests are about."""
SHARES = ("holds", "supports", "void")
"""Shares of orders in the last rollouts."""
RECENT = 5
"""Iterations whose rollouts are counted."""
FAMILIES = (
    Family("credit by order", ("plus", "times")),
    Family("multiplied credit without its sign", ("magnitude",)),
    Family("other seats and reference", ("self", "ema")),
)
Runs = Mapping[str, Sequence[Row]]


def figures(run: FinishedRun) -> Row:
    """Return the figures of the SFT model and of the last policy, with the share of supports that were void."""
    (game,) = run.read("evaluation.json")["evaluation"]["games"]
    by_label = {row["player"].rpartition("@")[2]: row["metrics"] for row in game["players"]}
    last = max((label for label in by_label if label.isdecimal()), key=int)
    before, after = ({name: by_label[label][name]["mean"] for name in FIGURES} for label in ("base", last))
    return {"seed": run.seed, **run.provenance(), "before": before, "after": after, **shares(run)}


def shares(run: FinishedRun) -> Row:
    """Return the shares of holds, of supports, and of void ones among these, in the last iterations' rollouts."""
    size = RECENT * rollouts(run)
    episodes = (one for one in read_episodes(run.path / "record", calls=False) if one.purpose == "train")
    kinds = [part.kind for episode in deque(episodes, maxlen=size) for part, _ in orders_of(episode)]
    supports = [kind for kind in kinds if kind in SUPPORTS]
    return {
        "holds": kinds.count("hold") / len(kinds) if kinds else None,
        "supports": len(supports) / len(kinds) if kinds else None,
        "void": supports.count("void support") / len(supports) if supports else None,
    }


def rollouts(run: FinishedRun) -> int:
    """Return the number of rollouts of an iteration."""
    grpo = run.folder.config_data()["grpo"]
    return int(grpo["groups_per_batch"]) * int(grpo["group_size"])


def rows(runs: Runs) -> Iterator[list[str]]:
    """A row for each arm that has runs, with means over seeds."""
    for arm in (*ORDERS, *VARIANTS):
        if own := runs.get(arm, ()):
            before = [run["before"]["payoff"] for run in own]
            after = ([run["after"][name] for run in own] for name in FIGURES)
            rest = ([run[name] for run in own] for name in SHARES)
            yield [arm, str(len(own)), *map(mean, (before, *after, *rest))]


def mean(values: Sequence[float | None]) -> str:
    """Format a mean with its interval over seeds; of one or two seeds their figures, as two give no useful interval."""
    known = [value for value in values if value is not None]
    if len(known) == 2:
        return ", ".join(map(number, known))
    return f"{number(sum(known) / len(known))} {interval(with_interval(known), '.3f')}".strip() if known else DASH


def tests(runs: Runs) -> Iterator[list[str]]:
    """A row for each declared comparison whose arms share a seed."""
    last = {arm: by_seed((run["seed"], run["after"]["payoff"]) for run in own) for arm, own in runs.items()}
    for family in FAMILIES:
        shared = {arm: pair_seeds(last.get(arm, {}), last.get(CONTROL, {})) for arm in family.comparisons}
        differences = {arm: found for arm, found in shared.items() if found}
        for name, test in paired_tests(family, differences, sign_flips(Key(0))).items():
            gap = mean([*test.by_seed.values()])
            yield [f"{name} less {CONTROL}", str(len(test.by_seed)), gap, number(test.p), number(test.holm_p)]


def main() -> None:
    """Write the JSON, and print the tables."""
    arguments = table_command_line(__doc__).parse_args()
    found = [(run.stem, figures(run)) for run in finished(arguments.folder) if run.stem in {**ORDERS, **VARIANTS}]
    runs = merged(read_results(Path(arguments.out)), found)
    write_results(arguments.out, runs)
    heads = [
        "arm",
        "seeds",
        "after SFT",
        "sum of squares",
        "first",
        "centres",
        "effective",
        "holds",
        "supports",
        "void",
    ]
    print(markdown(heads, rows(runs)))
    print(f"\n{markdown(['difference', 'seeds', 'sum of squares', 'p', 'Holm p'], tests(runs))}")


if __name__ == "__main__":
    main()
