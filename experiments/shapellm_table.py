"""The tables of docs/results/shapellm.md from the runs of experiments/shapellm.py.

`python experiments/shapellm_table.py runs/shapellm docs/results/shapellm.json` puts every finished run into the JSON,
in the place of one of the same recipe and seed that is there already, and prints the tables in Markdown: every seed,
the mean with its 95 % interval over seeds, and what the paper printed. Runs may so be made in several sittings.
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

from stratagem.evaluation.statistics import wilson
from stratagem.reports.shapellm_figures import printed
from stratagem.reports.siblings import band
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import read_metrics

Run = dict[str, Any]
_NAME = re.compile(r"(?P<folder>tabular|tiny|smollm2)-(?P<recipe>.+)-(?P<seed>\d+)")
KIND = ("learner", "memory", "reward")
"""What of a seat's settings is told."""
_WINDOW = 5
"""So many trials in a row make a peak."""
_PURE = 0.9
"""A joint action that makes up so much of the last games is where a pair ended."""


def found(folder: Path) -> Iterator[tuple[str, Run]]:
    """The recipe and the figures of every finished run."""
    for path in sorted(folder.glob("*/outcome.json")):
        if said := _NAME.fullmatch(path.parent.name):
            info = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
            known = {key: info[key] for key in ("seed", "commit", "command", "dirty")}
            outcome = json.loads(path.read_text(encoding="utf-8"))
            recipe = tomllib.loads((path.parent / "config.toml").read_text(encoding="utf-8"))
            kinds = {name: {key: seat.get(key) for key in KIND} for name, seat in recipe["seats"].items()}
            told = {**known, "trials": recipe["trials"], **outcome, "kinds": kinds, "curves": curves(path.parent)}
            told["peak"] = peak(path.parent, list(kinds))
            yield f"{said['folder']}/{said['recipe']}", told


def curves(path: Path) -> dict[str, Any]:
    """Pay, entropy and policy of every seat over the trials, one trial in five."""
    read = read_metrics(RunFolder.open(path))
    told = {}
    for name, curve in read.items():
        if name.endswith(("/pay", "/entropy", "/null")) or "/first/" in name:
            told[name] = [[s, round(v, 4)] for s, v in zip(*curve, strict=True) if s % 5 == 0 and math.isfinite(v)]
    return told


def peak(path: Path, seats: Sequence[str]) -> dict[str, Any]:
    """The five trials in a row in which the first seat was paid most: the first of them, and what all were paid."""
    read = read_metrics(RunFolder.open(path))
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


def pays(run: Run, rounds: int) -> tuple[float | None, ...]:
    """What the seats were paid a step in the last games of so many rounds; None where nothing legal was said."""
    (row,) = [row for row in run["rows"] if row["rounds"] == rounds]
    return tuple(row["figures"][f"{name}/pay"] for name in run["seats"])


def seed_rows(name: str, runs: Sequence[Run]) -> Iterator[list[str]]:
    """A row for each seed, the mean over them, and what is printed."""
    lengths = [row["rounds"] for row in runs[0]["rows"]]
    for run in runs:
        told = [" / ".join(shown(pay) for pay in pays(run, rounds)) for rounds in lengths]
        yield [name, str(run["seed"]), *told, highest(run), silent(run), regret(run)]
    paid = [pay for run in runs if None not in (pay := pays(run, lengths[0]))]
    if len(paid) > 1:
        bands = [band([pay or 0.0 for pay in column]) for column in zip(*paid, strict=True)]
        whole = " / ".join(f"{(low + high) / 2:.2f} \u00b1 {(high - low) / 2:.2f}" for low, high in bands)
        yield [f"**{name}**", f"{len(paid)} of {len(runs)}", whole, *[""] * (len(lengths) + 2)]
    paper = printed(runs[0]["rows"][0]["game"], runs[0].get("kinds"))
    if paper:
        both = " / ".join(f"{centre:.2f} \u00b1 {half:.2f}" for centre, half in (paper.first, paper.second))
        yield [f"*ShapeLLM, {paper.source}*", "", both, *[""] * (len(lengths) + 2)]


def shown(pay: float | None) -> str:
    """A pay; a dash where there is none."""
    return "\u2013" if pay is None else f"{pay:.2f}"


def highest(run: Run) -> str:
    """The best five trials in a row of the first seat, where they were kept."""
    if "peak" not in run:
        return "\u2013"
    return f"{' / '.join(f'{pay:.2f}' for pay in run['peak']['pays'])} from {run['peak']['from']}"


def silent(run: Run) -> str:
    """How often each seat said nothing legal in the first of the last games."""
    figures = run["rows"][0]["figures"]
    return " / ".join(f"{100 * figures[f'{name}/null']:.1f} %" for name in run["seats"])


def regret(run: Run) -> str:
    """What the second seat gives up against the best policy of memory one, a round."""
    told = run["interest"].get(run["seats"][-1])
    if not told or None in (told["possible"], told["earned"]):
        return "\u2013"
    return f"{told['possible'] - told['earned']:.2f}"


def ends(runs: Sequence[Run]) -> str:
    """In which joint action how many of the seeds ended, with Wilson's interval."""
    shares = [(name, count, wilson(count, len(runs))) for name, count in sorted(Counter(map(end, runs)).items())]
    return ", ".join(f"{name} {count} of {len(runs)} [{one.low:.2f}, {one.high:.2f}]" for name, count, one in shares)


def end(run: Run) -> str:
    """The joint action that makes up nearly all of the last games; none where there is no such, or none is counted."""
    shares = {name: share for name, share in run["rows"][0]["figures"].items() if name.startswith("visited/")}
    most = max(shares, key=lambda name: shares[name] or 0.0, default="")
    return most.removeprefix("visited/") if (shares.get(most) or 0.0) >= _PURE else "none"


def main() -> None:
    """Write the JSON and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("out", type=Path, help="the JSON file to go on with")
    asked = parser.parse_args()
    old = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.is_file() else {}
    data = told_plainly(merged(old, found(asked.folder)))
    asked.out.write_text(written(data), encoding="utf-8")
    for name, runs in data.items():
        lengths = [f"{row['rounds']} rounds" for row in runs[0]["rows"]]
        heads = ["", "seed", *lengths, "best five trials", "null", f"{runs[0]['seats'][-1]} gives up"]
        lines = [heads, ["---"] * len(heads), *seed_rows(name, runs)]
        print("\n".join(f"| {' | '.join(line)} |" for line in lines))
        print(f"\nWhere they ended: {ends(runs)}.\n")


if __name__ == "__main__":
    main()
