"""The tables of docs/results/sepo.md from the runs of experiments/sepo.py.

`python experiments/sepo_table.py runs/sepo docs/results/sepo.json` puts every finished run into the JSON, in the place
of one of the same name and seed, and prints the tables in Markdown; means and standard errors are over seeds. So runs
may be made in several sittings, and without their folder the tables are made of what the JSON holds.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sepo import ARMS
from sepo_paper import PAPER, PRINTED

from stratagem.evaluation.statistics import holm, mean, sign_flip_p, students
from stratagem.games.key import Key
from stratagem.learning.signal_to_noise import GradientSignal, SignalToNoiseTracker
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import read_metrics

Run = dict[str, Any]
SHOWN = ("pay", "exploit", "robust", "externality", "collusion", "safety", "nra", "exact")
STAGES = ("random", "Base", "SFT", "SEPO", "last")
FAMILY = ("exact", "exploit", "safety")
"""Figures in which SEPO is compared with the control, in all games: one family. A game's arms are another."""
_NAME = re.compile(r"(?P<game>kuhn|ipd|auction|negotiation-v[12])-(?P<what>[a-z0-9-]+)-(?P<seed>\d+)")
_DASH = "\u2013"


def found(folder: Path) -> Iterator[tuple[str, str, Run]]:
    """Game, what was run, and the figures of every finished run."""
    for path in sorted(folder.glob("*/evaluation.json")):
        if said := _NAME.fullmatch(path.parent.name):
            info = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
            known = {"seed": int(said["seed"]), **{key: info[key] for key in ("command", "commit", "dirty")}}
            yield said["game"], said["what"], {**known, "stages": figures(path.parent), "curves": curves(path.parent)}


def merged(old: Mapping[str, Mapping[str, Sequence[Run]]], folder: Path) -> dict[str, dict[str, list[Run]]]:
    """By game and name, a run a seed; a new one takes the place of an old one."""
    whole = {
        game: {what: {run["seed"]: run for run in runs} for what, runs in told.items()} for game, told in old.items()
    }
    for game, what, run in found(folder):
        whole.setdefault(game, {}).setdefault(what, {})[run["seed"]] = run
    return {
        game: {what: [runs[seed] for seed in sorted(runs)] for what, runs in told.items()}
        for game, told in sorted(whole.items())
    }


def figures(path: Path) -> dict[str, dict[str, float]]:
    """By stage, the figures of the final evaluation; the exact one is NashConv over the seats, in the game's unit."""
    data = json.loads((path / "evaluation.json").read_text(encoding="utf-8"))
    told = {}
    for row in data["evaluation"]["games"][0]["players"]:
        title = data["rows"].get(row["player"], row["player"])
        stage = "last" if ", last" in title else title.partition(" ")[0]
        told[stage] = {name: one["mean"] for name, one in row["metrics"].items() if one}
        told[stage] |= {"exact": row["exact"]["exploitability"]} if "exploitability" in row["exact"] else {}
    return told if "last" in told else {**told, "last": told["SEPO"]} if "SEPO" in told else told


def curves(path: Path) -> dict[str, Any]:
    """Exploitability over training, exact and against the pool, and the gradient of the penalty over it."""
    read = read_metrics(RunFolder.open(path))
    told: dict[str, Any] = {}
    for name, end in (("exact", "exact/exploitability"), ("exploit", "validation/exploit")):
        for curve in (read[key] for key in read if key.endswith(end)):
            told[name] = {"steps": [step - curve.steps[0] for step in curve.steps], "values": curve.values}
    if "loss/kl" in read:
        told["kl"] = mean(read["loss/kl"].values[-10:]).mean
    if "signal/exploit/dot" in read:
        pairs = zip(read["signal/exploit/dot"].values, read["signal/exploit/noise"].values, strict=True)
        told["signal"] = strength(list(pairs))
    findings = path / "findings.json"
    told["checks"] = {n: f["count"] for n, f in json.loads(findings.read_text()).items()} if findings.is_file() else {}
    return told


def strength(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Agreement of the halves of the penalty's gradient, and the verdict of the check `silent_term`."""
    signals = SignalToNoiseTracker()
    for dot, noise in pairs:
        signals.add({"exploit": GradientSignal(dot, noise, constant=noise == 0.0)})
    one = signals.estimates()["exploit"]
    return {"count": one.count, "varied": one.varied, "dot": one.mean, "noise": one.noise, "ratio": one.ratio} | {
        "verdict": one.verdict
    }


def number(value: float) -> str:
    """Three digits, without the leading nought."""
    text = f"{abs(value):.3f}"
    return ("-" if value < 0 and float(text) else "") + text.removeprefix("0")


def over_seeds(values: Sequence[float]) -> str:
    """Mean and standard error over seeds; a dash where there is none."""
    if not values:
        return _DASH
    estimate = mean(values)
    return number(estimate.mean) + (f" \u00b1 {number(estimate.se)}" if estimate.se else "")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def stage_rows(runs: Mapping[str, Sequence[Run]], game: str) -> Iterator[list[str]]:
    """A row for each stage, the control's beside SEPO's, then the paper's."""
    own = [run["stages"] for run in runs["tiny"]]
    control = [run["stages"] for run in runs.get("control", ())]
    for stage in STAGES:
        if stage == "SEPO" and control:
            yield _stage_row("no penalty, chosen", control, "SEPO")
            yield _stage_row("no penalty, last", control, "last")
        yield _stage_row({"SEPO": "SEPO, chosen", "last": "SEPO, last"}.get(stage, stage), own, stage)
    for model, printed in PAPER[game].items():
        for stage, numbers in printed.items():
            known = dict(zip(PRINTED, numbers, strict=True))
            shown = (known.get(name, math.nan) for name in SHOWN)
            yield [f"*{stage}, {model}*", *(_DASH if math.isnan(one) else f"*{number(one)}*" for one in shown)]


def _stage_row(title: str, told: Sequence[Mapping[str, Mapping[str, float]]], stage: str) -> list[str]:
    cells = ([one[stage][name] for one in told if name in one.get(stage, {})] for name in SHOWN)
    return [title, *map(over_seeds, cells)]


Pick = Callable[[Run], float | None]


def differences(runs: Sequence[Run], control: Sequence[Run], pick: Pick) -> list[float]:
    """Compute the difference of each seed to the same seed of the control."""
    others = {run["seed"]: pick(run) for run in control}
    pairs = ((pick(run), others.get(run["seed"])) for run in runs)
    return [own - other for own, other in pairs if own is not None and other is not None]


def compared(rows: Mapping[str, list[float]]) -> Iterator[list[str]]:
    """Paired differences with their interval, and p by sign flips with Holm's correction over all rows."""
    known = {name: values for name, values in rows.items() if len(values) > 1}
    ps = [sign_flip_p(values, Key(0).at("sepo", name)) for name, values in known.items()]
    for (name, values), p, adjusted in zip(known.items(), ps, holm(ps), strict=True):
        band = students(mean(values))
        between = f"{number(band.low or 0.0)} to {number(band.high or 0.0)}"
        yield [name, str(len(values)), number(band.mean), between, number(p), number(adjusted)]


def last_exact(run: Run) -> float | None:
    """Exact exploitability after the last iteration."""
    values: Sequence[float] = run["curves"].get("exact", {}).get("values", ())
    return values[-1] if values else None


def arm_rows(runs: Mapping[str, Sequence[Run]]) -> Iterator[list[str]]:
    """A row for each arm: exploitability at the start, the last and the chosen checkpoint, and the penalty's signal."""
    for name in (name for name in ARMS if name in runs):
        told = runs[name]
        curved = [run["curves"]["exact"]["values"] for run in told]
        signals = [run["curves"]["signal"] for run in told if "signal" in run["curves"]]
        stages = [run["stages"]["SEPO"] for run in told]
        verdicts = [signal["verdict"] for signal in signals]
        yield [
            name,
            str(len(told)),
            *(over_seeds([values[place] for values in curved]) for place in (0, -1)),
            *(over_seeds([stage[key] for stage in stages]) for key in ("exact", "exploit", "pay", "safety")),
            over_seeds([run["curves"]["kl"] for run in told if "kl" in run["curves"]]),
            over_seeds([signal["ratio"] for signal in signals]),
            ", ".join(f"{verdict} {verdicts.count(verdict)}" for verdict in dict.fromkeys(verdicts)),
        ]


def arm_differences(runs: Mapping[str, Sequence[Run]]) -> dict[str, list[float]]:
    """Each arm less the arm without penalty of the same reward, in the last exact exploitability."""
    told = {}
    for name in (name for name in ARMS if name in runs and not name.startswith("none")):
        control = "none-own" if name.endswith("own") else "none-togo"
        told[f"{name} less {control}"] = differences(runs[name], runs.get(control, ()), last_exact)
    if "none-own" in runs and "none-togo" in runs:
        told["none-own less none-togo"] = differences(runs["none-own"], runs["none-togo"], last_exact)
    return told


def control_differences(data: Mapping[str, Mapping[str, Sequence[Run]]]) -> dict[str, list[float]]:
    """SEPO less the run without its penalties, in all games; the chosen checkpoints."""
    return {
        f"{game}, {name}": differences(runs["tiny"], runs["control"], _chosen(name))
        for game, runs in data.items()
        if "control" in runs
        for name in FAMILY
    }


def _chosen(name: str) -> Pick:
    return lambda run: run["stages"].get("SEPO", {}).get(name)


def main() -> None:
    """Write the JSON and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the runs lie")
    parser.add_argument("out", type=Path, help="the JSON file to go on with")
    asked = parser.parse_args()
    old = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.is_file() else {}
    data = merged(old, asked.folder)
    asked.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for game, runs in data.items():
        if "tiny" in runs:
            print(f"\n### {game}, {len(runs['tiny'])} seeds\n\n{table(['', *SHOWN], list(stage_rows(runs, game)))}")
        if any(name in runs for name in ARMS):
            heads = ["arm", "seeds", "exact, start", "exact, last", "exact, chosen", "exploit, pool", "pay", "safety"]
            heads += ["KL to the start", "direction", "verdicts"]
            print(f"\n### {game}, arms\n\n{table(heads, list(arm_rows(runs)))}")
            compare = ["difference, exact, last", "seeds", "mean", "95 %", "p", "Holm p"]
            print(table(compare, list(compared(arm_differences(runs)))))
    if told := control_differences(data):
        print(
            f"\n### SEPO less no penalty\n\n{table(['', 'seeds', 'mean', '95 %', 'p', 'Holm p'], list(compared(told)))}"
        )


if __name__ == "__main__":
    main()
