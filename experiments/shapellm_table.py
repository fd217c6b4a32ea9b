"""The tables of docs/results/shapellm.md from the runs of experiments/shapellm.py.

`python experiments/shapellm_table.py runs/shapellm docs/results/shapellm.json` puts every finished run into the JSON,
in the place of one of the same recipe and seed that is there already, and prints the tables of the page in Markdown:
what every seed came to, beside what the paper printed; the means where games last longer; where pairs ended. Runs may
so be made in several sittings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    run_lines,
    table_command_line,
    write_results,
)
from shapellm_printed import Printed, printed
from shapellm_recipes import FOLDERS

from stratagem.base.files import finite
from stratagem.measure.rates import wilson
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.siblings import band

KIND = ("learner", "memory", "reward", "style", "model")
"""Settings of a seat that the table reports."""
_WINDOW = 5
"""So many trials in a row make a peak."""
_PURE = 0.9
"""A joint action that makes up so much of the last games is where a pair ended."""
_NEAR = 0.15
"""A payoff this far from a printed one agrees with it."""


def rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Yield the recipe and the figures of every finished run."""
    for run in finished(folder):
        study, _, recipe = run.stem.partition("-")
        if study in FOLDERS and (run.path / "outcome.json").is_file():
            yield f"{study}/{recipe}", row(run)


def row(run: FinishedRun) -> Row:
    """Collect the figures of a run."""
    recipe = run.folder.config_data()
    kinds = {name: {key: seat.get(key) for key in KIND} for name, seat in recipe["seats"].items()}
    known = {"seed": run.seed, **run.provenance(), "trials": recipe["trials"], "game": recipe["game"]}
    data = RunData(run.folder)  # steps of its curves count from the end of KL-SFT
    return {
        **known,
        **run.read("outcome.json"),
        "kinds": kinds,
        "curves": curves(data),
        "peak": peak(data, list(kinds)),
    }


def curves(data: RunData) -> dict[str, list[list[float]]]:
    """Payoff and entropy of every seat over the trials, one trial in five, and its policy, one in twenty-five."""
    return {
        name: [
            [s, round(v, 4)]
            for s, v in zip(*curve, strict=True)
            if s % (25 if "/first/" in name else 5) == 0 and math.isfinite(v)
        ]
        for name, curve in data.curves.items()
        if name.endswith(("/payoff", "/entropy", "/null")) or "/first/" in name
    }


def peak(data: RunData, seats: Sequence[str]) -> dict[str, Any]:
    """Return the five trials in a row that paid the first seat most: the first of them, and all seats' means."""
    payoffs = [data.curves[f"{name}/payoff"].values for name in seats]
    starts = range(max(1, len(payoffs[0]) - _WINDOW + 1))
    best = max(starts, key=lambda start: math.fsum(payoffs[0][start : start + _WINDOW]))
    means = [math.fsum(own[best : best + _WINDOW]) / len(own[best : best + _WINDOW]) for own in payoffs]
    return {"from": best + 1, "pays": means}


def seed_rows(data: Mapping[str, Sequence[Row]]) -> Iterator[list[str]]:
    """Yield a row for each recipe, its seeds in their order."""
    for name, runs in data.items():
        paper = printed(runs[0].get("game", runs[0]["rows"][0]["game"]), runs[0].get("kinds"))
        ends = "; ".join(joined(pays(run)) for run in runs)
        peaks = "; ".join(f"{joined(run['peak']['pays'])} from {run['peak']['from']}" for run in runs if "peak" in run)
        losses = "; ".join(number(regret(run), 2) for run in runs)
        near = f"{sum(agrees(pays(run), paper) for run in runs)} of {len(runs)}" if paper and single(paper) else ""
        published = f"{joined((paper.first[0], paper.second[0]))} ({paper.source})" if paper else ""
        yield [f"`{name}`", ", ".join(str(run["seed"]) for run in runs), ends, peaks, losses, near, published]


def length_rows(data: Mapping[str, Sequence[Row]], num_lengths: int) -> Iterator[list[str]]:
    """Yield a row for each recipe: the means over its seeds in games of every length."""
    for name, runs in data.items():
        yield [f"`{name}`", str(len(runs)), *(mean_pays(runs, index) for index in range(num_lengths))]


def end_rows(data: Mapping[str, Sequence[Row]]) -> Iterator[list[str]]:
    """Yield a row for each recipe: the joint actions in which its seeds ended."""
    for name, runs in data.items():
        yield [f"`{name}`", ends(runs)]


def pays(run: Row, index: int = 0) -> tuple[float | None, ...]:
    """Return the seats' rewards per step in the last games, in order; None where no reply was legal."""
    figures = run["rows"][index]["figures"]
    return tuple(figures[f"{name}/payoff"] for name in run["seats"])


def mean_pays(runs: Sequence[Row], index: int) -> str:
    """Format the mean of every seat over seeds with its 95 % interval."""
    payoffs = [[pay for pay in own if pay is not None] for run in runs if None not in (own := pays(run, index))]
    if len(payoffs) < 2:
        return joined(payoffs[0]) if payoffs else DASH
    bands = [band(column) for column in zip(*payoffs, strict=True)]
    return " / ".join(f"{number((low + high) / 2, 2)} \u00b1 {number((high - low) / 2, 2)}" for low, high in bands)


def agrees(payoffs: Sequence[float | None], paper: Printed) -> bool:
    """Test whether both seats' rewards are near the published ones."""
    published = (paper.first[0], paper.second[0])
    return all(pay is not None and abs(pay - other) <= _NEAR for pay, other in zip(payoffs, published, strict=True))


def single(paper: Printed) -> bool:
    """Test whether a published mean represents its seeds: a wide one is between the equilibria in which they ended."""
    return max(paper.first[1], paper.second[1]) <= _NEAR


def joined(payoffs: Sequence[float | None]) -> str:
    """Format the payoffs of all seats."""
    return " / ".join(number(pay, 2) for pay in payoffs)


def regret(run: Row) -> float | None:
    """Compute the last seat's loss per round to the best memory-one policy."""
    interest = run["interest"].get(run["seats"][-1])
    if not interest or None in (interest["possible"], interest["earned"]):
        return None
    return float(interest["possible"] - interest["earned"])


def ends(runs: Sequence[Row]) -> str:
    """Count the seeds by the joint action in which they ended, with Wilson's interval."""
    shares = [(name, count, wilson(count, len(runs))) for name, count in sorted(Counter(map(end, runs)).items())]
    return ", ".join(f"{name} {count} of {len(runs)} {interval(share)}" for name, count, share in shares)


def end(run: Row) -> str:
    """Return the joint action that makes up nearly all of the last games; `none` where there is no such action."""
    shares = {name: share for name, share in run["rows"][0]["figures"].items() if name.startswith("visited/")}
    most = max(shares, key=lambda name: shares[name] or 0.0, default="")
    return most.removeprefix("visited/") if (shares.get(most) or 0.0) >= _PURE else "none"


def tables(data: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Yield the tables of one study."""
    heads = ["recipe", "seeds", "at the end", "best five trials", "given up", f"within {number(_NEAR, 2)}", "ShapeLLM"]
    yield markdown(heads, seed_rows(data))
    lengths = [row["rounds"] for row in next(iter(data.values()))[0]["rows"]]
    heads = ["recipe", "seeds", *(f"{length} rounds" for length in lengths)]
    yield markdown(heads, length_rows(data, len(lengths)))
    yield markdown(["recipe", "ended in"], end_rows(data))


def main() -> None:
    """Write the JSON and print the tables."""
    arguments = table_command_line(__doc__).parse_args()
    data = finite(dict(sorted(merged(read_results(arguments.out), rows(arguments.folder)).items())))
    write_results(arguments.out, data, run_lines)
    for study in sorted({name.partition("/")[0] for name in data}):
        print(f"## {study}\n")
        for table in tables({name: runs for name, runs in data.items() if name.startswith(f"{study}/")}):
            print(f"{table}\n")


if __name__ == "__main__":
    main()
