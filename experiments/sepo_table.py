"""The tables of docs/results/sepo.md from the runs of experiments/sepo.py.

`python experiments/sepo_table.py runs/sepo docs/results/sepo.json` writes every figure as JSON and prints the tables in
Markdown; means and standard errors are over seeds. What is not there yet is left out.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import read_metrics

PAPER: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]] = {
    "ipd": {
        "Gemma 4 E4B": {
            "Base": (2.741, 0.703, 0.155, 0.761, -0.091),
            "SFT": (2.719, 0.828, 0.153, 0.455, -0.105),
            "SEPO": (2.745, 0.703, 0.159, 0.772, -0.090),
        },
        "Qwen 3.5-4B": {
            "Base": (1.641, 5.000, 0.146, -13.109, -0.372),
            "SFT": (1.773, 3.125, 0.278, -7.894, -0.225),
            "SEPO": (2.379, 1.250, 0.261, -1.847, -0.080),
        },
    },
    "auction": {
        "Gemma 4 E4B": {
            "Base": (0.514, 0.146, 0.380, -2.049, 0.478),
            "SFT": (0.646, 0.000, 0.208, -1.054, 0.149),
            "SEPO": (0.750, 0.021, 0.208, -0.900, 0.130),
        },
        "Qwen 3.5-4B": {
            "Base": (0.514, 0.042, 0.490, -2.861, 0.373),
            "SFT": (0.542, 0.250, 0.344, -1.783, 0.230),
            "SEPO": (0.563, 0.125, 0.255, -1.200, 0.122),
        },
    },
    "negotiation-v1": {
        "Qwen 3.5-4B": {
            "Base": (1.08, 1.50, 0.70, -4.98, -0.44),
            "SFT": (1.75, 2.00, 0.57, -3.20, -0.26),
            "SEPO": (2.17, 0.00, 0.60, -0.74, -0.19),
        }
    },
    "negotiation-v2": {
        "Gemma 4 E4B": {
            "Base": (6.04, 0.06, 0.70, -0.32, -0.04),
            "SFT": (7.05, 6.03, 0.56, -2.77, -0.23),
            "SEPO": (10.93, 0.14, 0.60, 2.19, 0.17),
        }
    },
    "kuhn": {
        "Gemma 4 E4B": {
            "Base": (-0.256, 0.211, math.nan, -1.398, math.nan),
            "SFT": (0.000, 0.000, math.nan, -0.931, math.nan),
            "SEPO": (0.249, 0.000, math.nan, -0.379, math.nan),
        },
        "Qwen 3.5-4B": {
            "Base": (0.033, 0.705, math.nan, -3.686, math.nan),
            "SFT": (-0.113, 0.347, math.nan, -3.142, math.nan),
            "SEPO": (-0.267, 0.000, math.nan, -1.709, math.nan),
        },
    },
}
"""SEPO's printed figures: pay, exploit, externality, safety, NRA."""
PRINTED = ("pay", "exploit", "externality", "safety", "nra")
SHOWN = ("pay", "exploit", "robust", "externality", "collusion", "safety", "nra", "exact")
STAGES = ("random", "Base", "SFT", "SEPO")
_NAME = re.compile(r"(?P<game>kuhn|ipd|auction|negotiation-v[12])-(?P<what>[a-z0-9-]+)-(?P<seed>\d+)")


def found(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Game, what was run, and folder of every run with a last table."""
    for path in sorted(folder.glob("*/evaluation.json")):
        if said := _NAME.fullmatch(path.parent.name):
            yield said["game"], said["what"], path.parent


def figures(path: Path) -> dict[str, dict[str, float]]:
    """By stage, the figures of the last table; the exact one is NashConv over the seats, in the game's own unit."""
    data = json.loads((path / "evaluation.json").read_text(encoding="utf-8"))
    told = {}
    for row in data["evaluation"]["games"][0]["players"]:
        stage = data["rows"].get(row["player"], row["player"]).partition(" ")[0].rstrip(",")
        if stage not in told:  # the last checkpoint, where it is not the best, comes after that
            told[stage] = {name: one["mean"] for name, one in row["metrics"].items() if one}
            told[stage] |= {"exact": row["exact"]["exploitability"]} if "exploitability" in row["exact"] else {}
    return told


def curves(path: Path) -> dict[str, Any]:
    """Exact exploitability over training, and what gradient the penalty brought over it."""
    read = read_metrics(RunFolder.open(path))
    told: dict[str, Any] = {}
    for name, curve in read.items():
        if name.endswith("exact/exploitability"):
            told["exact"] = {"steps": [step - curve.steps[0] for step in curve.steps], "values": curve.values}
    if "signal/exploit/dot" in read:
        dots, noises = read["signal/exploit/dot"].values, read["signal/exploit/noise"].values
        told["signal"] = {
            "count": len(dots),
            "dot": math.fsum(dots) / len(dots),
            "noise": math.fsum(noises) / len(noises),
        }
        told["signal"]["ratio"] = 2.0 * math.fsum(dots) / math.fsum(noises) if any(noises) else 0.0
    findings = path / "findings.json"
    told["checks"] = {n: f["count"] for n, f in json.loads(findings.read_text()).items()} if findings.is_file() else {}
    return told


def over_seeds(values: Sequence[float]) -> str:
    """Mean and standard error."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return f"{mean:.3f}"
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    return f"{mean:.3f} ± {error:.3f}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def stage_rows(runs: Sequence[Mapping[str, Mapping[str, float]]], game: str) -> Iterator[list[str]]:
    """A row for each stage, then the paper's."""
    for stage in STAGES:
        told = [run[stage] for run in runs if stage in run]
        if told:
            cells = [[one[name] for one in told if name in one] for name in SHOWN]
            yield [stage, *(over_seeds(cell) if cell else "–" for cell in cells)]
    for model, printed in PAPER[game].items():
        for stage, numbers in printed.items():
            known = dict(zip(PRINTED, numbers, strict=True))
            shown = (known.get(name, math.nan) for name in SHOWN)
            yield [f"*{stage}, {model}*", *("–" if math.isnan(number) else f"{number:.3f}" for number in shown)]


def ablation_rows(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[list[str]]:
    """A row for each variant: where it ended, and what its penalty's gradient was worth."""
    for name, told in runs.items():
        first, least, last = (
            [pick(run["curves"]["exact"]["values"]) for run in told if "exact" in run["curves"]]
            for pick in (lambda values: values[0], min, lambda values: values[-1])
        )
        ratios = [run["curves"]["signal"]["ratio"] for run in told if "signal" in run["curves"]]
        stages = [run["stages"]["SEPO"] for run in told if "SEPO" in run["stages"]]
        cells = [
            first,
            least,
            last,
            ratios,
            *([stage[key] for stage in stages] for key in ("exploit", "safety", "pay")),
        ]
        yield [name, str(len(told)), *(over_seeds(cell) if cell else "–" for cell in cells)]


def main() -> None:
    """Write the JSON and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("out", type=Path, help="the JSON file to write")
    asked = parser.parse_args()
    data: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for game, what, path in found(asked.folder):
        info = json.loads((path / "run.json").read_text(encoding="utf-8"))
        known = {key: info[key] for key in ("seed", "command", "commit", "dirty")}
        run = {**known, "stages": figures(path), "curves": curves(path)}
        data.setdefault(game, {}).setdefault(what, []).append(run)
    asked.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for game, runs in data.items():
        for model in ("tiny", "smollm2"):
            if model in runs:
                print(f"\n### {game}, {model}, {len(runs[model])} seeds\n")
                print(table(["", *SHOWN], list(stage_rows([run["stages"] for run in runs[model]], game))))
        ablated = {name: told for name, told in runs.items() if name != "smollm2"}
        if len(ablated) > 1:
            heads = ["", "seeds", "exact at start", "least", "last", "2 g1·g2 / noise", "exploit", "safety", "pay"]
            print(f"\n### {game}, ablation\n\n{table(heads, list(ablation_rows(ablated)))}")


if __name__ == "__main__":
    main()
