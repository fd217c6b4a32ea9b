"""The tables of docs/results/shapellm.md from the runs of experiments/shapellm.py.

`python experiments/shapellm_table.py runs/shapellm docs/results/shapellm.json` puts every finished run into the JSON,
in the place of one of the same recipe and seed that is there already, and prints the tables of the page in Markdown:
what every seed came to, beside what the paper printed; the means where games last longer; where pairs ended. Runs may
so be made in several sittings.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shapellm_printed import Printed, printed

from stratagem.evaluation.statistics import wilson
from stratagem.reports.run_data import RunData
from stratagem.reports.siblings import band
from stratagem.runs.folder import RunFolder

Run = dict[str, Any]
_NAME = re.compile(r"(?P<folder>tabular|tiny|smollm2)-(?P<recipe>.+)-(?P<seed>\d+)")
KIND = ("learner", "memory", "reward", "style", "model")
"""Settings of a seat that the table reports."""
_WINDOW = 5
"""So many trials in a row make a peak."""
_PURE = 0.9
"""A joint action that makes up so much of the last games is where a pair ended."""
_NEAR = 0.15
"""A pay this far from a printed one agrees with it."""
DASH = "\u2013"


def found(folder: Path) -> Iterator[tuple[str, Run]]:
    """The recipe and the figures of every finished run."""
    for path in sorted(folder.glob("*/outcome.json")):
        if said := _NAME.fullmatch(path.parent.name):
            info = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
            known = {key: info[key] for key in ("seed", "commit", "command", "dirty")}
            outcome = json.loads(path.read_text(encoding="utf-8"))
            recipe = tomllib.loads((path.parent / "config.toml").read_text(encoding="utf-8"))
            kinds = {name: {key: seat.get(key) for key in KIND} for name, seat in recipe["seats"].items()}
            told = {**known, "trials": recipe["trials"], "game": recipe["game"], **outcome, "kinds": kinds}
            told["curves"] = curves(path.parent)
            told["peak"] = peak(path.parent, list(kinds))
            yield f"{said['folder']}/{said['recipe']}", told


def curves(path: Path) -> dict[str, Any]:
    """Pay, entropy and policy of every seat over the trials, one trial in five."""
    read = RunData(RunFolder.open(path)).curves  # steps count from the end of KL-SFT
    told = {}
    for name, curve in read.items():
        if name.endswith(("/pay", "/entropy", "/null")) or "/first/" in name:
            told[name] = [[s, round(v, 4)] for s, v in zip(*curve, strict=True) if s % 5 == 0 and math.isfinite(v)]
    return told


def peak(path: Path, seats: Sequence[str]) -> dict[str, Any]:
    """The five trials in a row in which the first seat was paid most: the first of them, and what all were paid."""
    read = RunData(RunFolder.open(path)).curves  # steps count from the end of KL-SFT
    pays = [read[f"{name}/pay"].values for name in seats]
    starts = range(max(1, len(pays[0]) - _WINDOW + 1))
    best = max(starts, key=lambda start: math.fsum(pays[0][start : start + _WINDOW]))
    means = [math.fsum(own[best : best + _WINDOW]) / len(own[best : best + _WINDOW]) for own in pays]
    return {"from": best + 1, "pays": means}


def merged(old: Mapping[str, Sequence[Run]], runs: Iterator[tuple[str, Run]]) -> dict[str, list[Run]]:
    """By recipe, a run a seed; a new one takes the place of an old one."""
    whole = {name: {run["seed"]: run for run in told} for name, told in old.items()}
    for name, run in runs:
        whole.setdefault(name, {})[run["seed"]] = run
    return {name: [told[seed] for seed in sorted(told)] for name, told in sorted(whole.items())}


def told_plainly(value: Any) -> Any:
    """The same without what is no number, which JSON does not know."""
    if isinstance(value, dict):
        return {key: told_plainly(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [told_plainly(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def written(data: Mapping[str, Sequence[Run]]) -> str:
    """As JSON, a line for each run."""
    rows = {name: ",\n".join(json.dumps(run, allow_nan=False) for run in runs) for name, runs in data.items()}
    return "{\n" + ",\n".join(f"{json.dumps(name)}: [\n{lines}\n]" for name, lines in rows.items()) + "\n}\n"


def seed_rows(data: Mapping[str, Sequence[Run]]) -> Iterator[list[str]]:
    """A row for each recipe, its seeds in their order."""
    yield ["recipe", "seeds", "at the end", "best five trials", "given up", f"within {shown(_NEAR)}", "ShapeLLM"]
    for name, runs in data.items():
        paper = printed(runs[0].get("game", runs[0]["rows"][0]["game"]), runs[0].get("kinds"))
        ended = "; ".join(both(pays(run)) for run in runs)
        peaks = "; ".join(f"{both(run['peak']['pays'])} from {run['peak']['from']}" for run in runs if "peak" in run)
        lost = "; ".join(shown(regret(run)) for run in runs)
        near = f"{sum(agrees(pays(run), paper) for run in runs)} of {len(runs)}" if paper and single(paper) else ""
        told = f"{both((paper.first[0], paper.second[0]))} ({paper.source})" if paper else ""
        yield [f"`{name}`", ", ".join(str(run["seed"]) for run in runs), ended, peaks, lost, near, told]


def length_rows(data: Mapping[str, Sequence[Run]]) -> Iterator[list[str]]:
    """A row for each recipe: the means over its seeds in games of every length that was asked."""
    lengths = [row["rounds"] for row in next(iter(data.values()))[0]["rows"]]
    yield ["recipe", "seeds", *(f"{length} rounds" for length in lengths)]
    for name, runs in data.items():
        yield [f"`{name}`", str(len(runs)), *(mean_pays(runs, place) for place in range(len(lengths)))]


def pays(run: Run, place: int = 0) -> tuple[float | None, ...]:
    """Return the seats' rewards per step in the last games, sorted; None where no reply was legal."""
    figures = run["rows"][place]["figures"]
    return tuple(figures[f"{name}/pay"] for name in run["seats"])


def mean_pays(runs: Sequence[Run], place: int) -> str:
    """The mean of every seat over seeds with its 95 % interval."""
    paid = [[pay for pay in found if pay is not None] for run in runs if None not in (found := pays(run, place))]
    if len(paid) < 2:
        return both(paid[0]) if paid else DASH
    bands = [band(column) for column in zip(*paid, strict=True)]
    return " / ".join(f"{shown((low + high) / 2)} \u00b1 {shown((high - low) / 2)}" for low, high in bands)


def agrees(paid: Sequence[float | None], paper: Printed) -> bool:
    """Test whether both seats' rewards are near the published ones."""
    wanted = (paper.first[0], paper.second[0])
    return all(pay is not None and abs(pay - one) <= _NEAR for pay, one in zip(paid, wanted, strict=True))


def single(paper: Printed) -> bool:
    """Test whether a published mean represents its seeds: a wide one is between the equilibria in which they ended."""
    return max(paper.first[1], paper.second[1]) <= _NEAR


def both(paid: Sequence[float | None]) -> str:
    """The pays of all seats."""
    return " / ".join(map(shown, paid))


def shown(pay: float | None) -> str:
    """A figure without its leading nought; a dash where there is none."""
    if pay is None:
        return DASH
    text = f"{abs(pay):.2f}"
    return ("-" if pay < 0 and float(text) else "") + (text.removeprefix("0"))


def regret(run: Run) -> float | None:
    """Compute the last seat's loss per round to the best memory-one policy."""
    told = run["interest"].get(run["seats"][-1])
    return None if not told or None in (told["possible"], told["earned"]) else told["possible"] - told["earned"]


def ends(runs: Sequence[Run]) -> str:
    """In which joint action how many of the seeds ended, with Wilson's interval."""
    shares = [(name, count, wilson(count, len(runs))) for name, count in sorted(Counter(map(end, runs)).items())]
    return ", ".join(f"{name} {count} of {len(runs)} [{one.low:.2f}, {one.high:.2f}]" for name, count, one in shares)


def end(run: Run) -> str:
    """The joint action that makes up nearly all of the last games; none where there is no such, or none is counted."""
    shares = {name: share for name, share in run["rows"][0]["figures"].items() if name.startswith("visited/")}
    most = max(shares, key=lambda name: shares[name] or 0.0, default="")
    return most.removeprefix("visited/") if (shares.get(most) or 0.0) >= _PURE else "none"


def end_rows(data: Mapping[str, Sequence[Run]]) -> Iterator[list[str]]:
    """A row for each recipe: the joint actions in which its seeds ended."""
    yield ["recipe", "ended in"]
    for name, runs in data.items():
        yield [f"`{name}`", ends(runs)]


def markdown(rows: Iterator[list[str]]) -> str:
    """A table whose first row is the heads."""
    heads = next(rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def main() -> None:
    """Write the JSON and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("out", type=Path, help="the JSON file to go on with")
    asked = parser.parse_args()
    old = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.is_file() else {}
    data = told_plainly(merged(old, found(asked.folder)))
    asked.out.write_text(written(data), encoding="utf-8")
    for folder in sorted({name.partition("/")[0] for name in data}):
        own = {name: runs for name, runs in data.items() if name.startswith(f"{folder}/")}
        print(f"## {folder}\n")
        for rows in (seed_rows(own), length_rows(own), end_rows(own)):
            print(f"{markdown(rows)}\n")


if __name__ == "__main__":
    main()
