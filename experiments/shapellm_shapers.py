"""Shapers by exact values in five games, from the runs of `experiments/shapellm.py RUNS shapers`.

`python experiments/shapellm_shapers.py runs/shapellm docs/results/shapers.json` adds finished runs to the JSON, in the
place of one of the same name and seed, and prints the tables of the page in Markdown. Payoffs at the end are exact, a
round of the last policies; those over learning are means of the sampled episodes. Two families were declared before the
runs. Both are paired by seed with two naive learners from the same initial policies, tested by exact sign flips, and
corrected by Holm:

against a naive learner   payoff of the first seat, less that of a naive learner in its place
against itself            mean payoff of both seats, less that of two naive learners

Intervals are Student's t over seeds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from result_tables import (
    DASH,
    FinishedRun,
    Row,
    finished,
    interval,
    markdown,
    merged,
    read_results,
    run_lines,
    table_command_line,
    write_results,
)
from shapellm_recipes import SHAPERS

from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.measure.statistics import Estimate, with_interval
from stratagem.show.reports.run_data import RunData
from stratagem.sweeps.comparison import PairedTest, by_seed, pair_seeds, paired_tests, sign_flips

GAMES = ("ipd", "imp", "icg", "c-ipd", "ish")
NAIVE = "exact"
AGAINST_NAIVE = (*SHAPERS, "clock")
SEATS = ("one", "two")
MIN_SEEDS = 6
"""Fewer paired seeds cannot reach p < .05 by sign flips."""
ALONE = Family("shapers against a naive learner", tuple(f"{g} {s}" for g, s in product(GAMES, AGAINST_NAIVE)))
TOGETHER = Family("shapers against themselves", tuple(f"{g} {s} twice" for g, s in product(GAMES, SHAPERS)))
_NAME = re.compile(rf"(?P<game>{'|'.join(GAMES)}|published)-(?P<first>[a-z]+(-alignment)?)-(?P<second>.+)")
Runs = Mapping[str, Sequence[Row]]


def rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Yield the name and the figures of every finished run."""
    for run in finished(folder):
        study, _, name = run.stem.partition("-")
        if study == "shapers":
            yield name, row(run)


def row(run: FinishedRun) -> Row:
    """Collect the figures of a run: payoffs at the end and over learning, and the last policies."""
    data, outcome, known = RunData(run.folder), run.read("outcome.json"), run.provenance()
    known["command"] = re.sub(r"(?<=--out )\S+/", "runs/shapellm/", known["command"])
    return {
        "seed": run.seed,
        **known,
        "end": [outcome["interest"][seat]["earned"] for seat in SEATS],
        "best_response": [outcome["interest"][seat]["possible"] for seat in SEATS],
        "learning": [_mean(data.curves[f"{seat}/payoff"].values) for seat in SEATS],
        "policy": [[_last(data, f"{seat}/first/", state) for state in _states(data, seat)] for seat in SEATS],
    }


def _states(data: RunData, seat: str) -> list[str]:
    prefix = f"{seat}/first/"
    return [name.removeprefix(prefix) for name in data.curves if name.startswith(prefix)]


def _last(data: RunData, prefix: str, state: str) -> float:
    return round(data.curves[prefix + state].values[-1], 4)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def effects(data: Runs) -> dict[str, dict[int, float]]:
    """Return by comparison of both families the difference from two naive learners, for every seed of both."""
    found = {}
    for game in GAMES:
        control = data.get(f"{game}-{NAIVE}-{NAIVE}", ())
        for shaper in AGAINST_NAIVE:
            own = data.get(f"{game}-{shaper}-{NAIVE}", ())
            found[f"{game} {shaper}"] = pair_seeds(_ends(own, 0), _ends(control, 0))
        for shaper in SHAPERS:
            own = data.get(f"{game}-{shaper}-{shaper}", ())
            found[f"{game} {shaper} twice"] = pair_seeds(_ends(own), _ends(control))
    return {name: own for name, own in found.items() if own}


def _ends(runs: Sequence[Row], slot: int | None = None) -> dict[int, float]:
    """Return by seed the payoff of a seat at the end, or the mean of both."""
    return by_seed((run["seed"], _mean(run["end"]) if slot is None else run["end"][slot]) for run in runs)


def tests(data: Runs) -> dict[str, PairedTest]:
    """Test every comparison that was run, each within its family."""
    found, p_value = effects(data), sign_flips(Key(0), MIN_SEEDS)
    return {
        **paired_tests(ALONE, {name: own for name, own in found.items() if name in ALONE.comparisons}, p_value),
        **paired_tests(TOGETHER, {name: own for name, own in found.items() if name in TOGETHER.comparisons}, p_value),
    }


PAYOFFS = ("seeds", "first, end", "second, end", "first, learning")
HEADS = ("game", "first seat", "second seat", *PAYOFFS, "effect", "Holm p")


def table(data: Runs) -> Iterator[list[str]]:
    """Yield a row for each pair of learners in each game."""
    found = tests(data)
    for game in GAMES:
        pairs = [(NAIVE, NAIVE), *((s, NAIVE) for s in AGAINST_NAIVE), *((s, s) for s in SHAPERS)]
        for first, second in pairs:
            if runs := data.get(f"{game}-{first}-{second}"):
                test = found.get(f"{game} {first}" if second == NAIVE else f"{game} {first} twice")
                yield [game, _called(first), _called(second), *figures(runs), *_tested(test)]


def figures(runs: Sequence[Row]) -> list[str]:
    """Return the number of seeds and the payoffs of a pair: both seats at the end, the first over learning."""
    ends = [[run["end"][slot] for run in runs] for slot in (0, 1)]
    return [str(len(runs)), *map(_spread, [*ends, [run["learning"][0] for run in runs]])]


def _spread(values: Sequence[float]) -> str:
    """Format a mean with half of its 95 % interval over seeds."""
    estimate = with_interval(list(values))
    return f"{round(estimate.mean, 2) + 0.0:.2f}{_half(estimate)}"


def _half(estimate: Estimate) -> str:
    return "" if estimate.high is None else f" ± {estimate.high - estimate.mean:.2f}"


def _tested(test: PairedTest | None) -> list[str]:
    if test is None:
        return [DASH, DASH]
    p = "too few seeds" if test.holm_p is None else f"{test.holm_p:.3f}"
    return [f"{round(test.estimate.mean, 2) + 0.0:+.2f} {interval(test.estimate)}".rstrip(), p]


def effect_rows(data: Runs, ending: str = "") -> list[list[str]]:
    """Return a row of effects for each game; `*` marks a Holm p below .05. With ` twice`, a shaper meets itself."""
    found, shapers = tests(data), SHAPERS if ending else AGAINST_NAIVE
    return [[game, *(_marked(found.get(f"{game} {shaper}{ending}")) for shaper in shapers)] for game in GAMES]


def effect_heads(ending: str = "") -> list[str]:
    """Return the heads of the rows of effects."""
    return ["game", *map(_called, SHAPERS if ending else AGAINST_NAIVE)]


def _marked(test: PairedTest | None) -> str:
    significant = test is not None and test.holm_p is not None and test.holm_p < 0.05
    return f"{_tested(test)[0]}{'*' if significant else ''}"


def _called(kind: str) -> str:
    return {NAIVE: "naive", "clock": "once a trial"}.get(kind, kind)


def published(data: Runs) -> Iterator[list[str]]:
    """Yield a row for each pair in the published game."""
    for name, runs in data.items():
        match = _NAME.fullmatch(name)
        if match and match["game"] == "published":
            yield [_called(match["first"]), _called(match["second"]), *figures(runs)]


def main() -> None:
    """Write the JSON and print the tables."""
    arguments = table_command_line(__doc__).parse_args()
    data = dict(sorted(merged(read_results(arguments.out), rows(arguments.folder)).items()))
    write_results(arguments.out, data, run_lines)
    print(markdown(HEADS, table(data)))
    print()
    print(markdown(("first seat", "second seat", *PAYOFFS), published(data)))
    for ending in ("", " twice"):
        print(f"\n{markdown(effect_heads(ending), effect_rows(data, ending))}")


if __name__ == "__main__":
    main()
