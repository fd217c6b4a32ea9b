"""The tables of docs/results/sepo.md from the runs of experiments/sepo.py.

`python experiments/sepo_table.py runs/sepo docs/results/sepo.json` puts every finished run into the JSON, in the place
of one of the same name and seed, and prints the tables in Markdown; means and standard errors are over seeds. So runs
may be made in several sittings, and without their folder the tables are made of what the JSON holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from result_tables import (
    DASH,
    FinishedRun,
    Row,
    finished,
    markdown,
    merged,
    number,
    read_results,
    table_command_line,
    write_results,
)
from sepo import ARMS, DICE, GAMES, LEDUC, LEDUC_SMOLLM2, RESPONSE_ARMS, SMOLLM2
from sepo_paper import PAPER, PRINTED

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learn.signal_to_noise import GradientSignal, SignalToNoiseTracker
from stratagem.measure.comparisons import Family
from stratagem.measure.report import scale_of
from stratagem.measure.statistics import Estimate, mean
from stratagem.sweeps.comparison import BySeed, by_seed, pair_seeds, paired_tests, sign_flips
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

Pick = Callable[[Row], float | None]
Games = Mapping[str, Mapping[str, Sequence[Row]]]
"""Runs by game and name, a run a seed."""
SHOWN = ("payoff", "pool_advantage", "shifted_payoff", "externality", "collusion", "safety", "nra", "exact")
STAGES = ("random", "Base", "SFT", "SEPO", "last")
CONTROLLED = ("exact", "pool_advantage", "safety")
"""Figures in which SEPO is compared with the control; the exact one exists in Kuhn poker alone."""
CONTROL_FAMILY = Family(
    "SEPO less the run without its penalties, in all games",
    tuple(f"{game}, {name}" for game in GAMES for name in CONTROLLED if name != "exact" or game == "kuhn"),
)
ARM_CONTROLS = {
    name: f"none-{'own' if name.endswith('own') else 'togo'}" for name in ARMS if not name.startswith("none")
}
ARM_CONTROLS["none-own"] = "none-togo"
"""Arm that each arm is compared with: the one without penalty of the same reward."""
ARM_FAMILY = Family("the arms of one game", tuple(f"{arm} less {control}" for arm, control in ARM_CONTROLS.items()))
RESPONSE_FAMILIES = {
    game: Family(f"the best response in {title}", ("best-togo less none-togo",))
    for game, title in ((LEDUC, "Leduc poker"), (DICE, "liar's dice"))
}
"""One comparison a game, declared before its runs: exact exploitability after the last iteration."""
SMOLLM2_FAMILY = Family("SmolLM2 in Kuhn poker", ("probe-togo less none-togo", "best-togo less none-togo"))
LEDUC_SMOLLM2_FAMILY = Family("SmolLM2 in Leduc poker", ("best-togo less none-togo",))
FAMILIES = {**RESPONSE_FAMILIES, SMOLLM2: SMOLLM2_FAMILY, LEDUC_SMOLLM2: LEDUC_SMOLLM2_FAMILY}
"""Comparisons of arms, by what stands before the arm in a run's name."""

HEADLINE = {
    "random play (chance level)": ("none-togo", "random"),
    "after SFT, before SEPO": ("none-togo", "Base"),
    "SEPO without a penalty (control)": ("none-togo", "last"),
    "penalty by the best response": ("best-togo", "last"),
    "penalty by the pool": ("probe-togo", "last"),
    "penalty by the pool, credited to the rollout": ("rollout-togo", "last"),
}
"""Rows of the first table: arm and stage in Kuhn poker."""
HEADLINE_COLUMNS = (
    "policy",
    "payoff",
    "exploitability, pool's estimate",
    "exploitability, exact",
    "exact, less the control",
    "Holm p",
)
CLAIM_COLUMNS = ("arm", "seeds", "exact, last", "direction", "less its control", "Holm p")
RESPONSE_COLUMNS = (
    "policy",
    "seeds",
    "payoff",
    "exploitability, exact",
    "less the control",
    "p",
    "the chosen checkpoint's",
    "KL to the start",
)


def merged_by_game(old: Games, runs: Sequence[FinishedRun]) -> dict[str, dict[str, list[Row]]]:
    """Merge runs by game, name and seed; a new one replaces an old one."""
    new: dict[str, list[tuple[str, Row]]] = {game: [] for game in old}
    for run in runs:
        for game in sorted((name for name in (*GAMES, *FAMILIES) if run.stem.startswith(f"{name}-")), key=len)[-1:]:
            new.setdefault(game, []).append((run.stem.removeprefix(f"{game}-"), row(run)))
    return {game: merged(old.get(game, {}), rows) for game, rows in sorted(new.items())}


def row(run: FinishedRun) -> Row:
    """Collect the figures of a run; a perturbed copy stands in the place of the seed in its name."""
    return {"seed": run.seed, **run.provenance(), "stages": figures(run.path), "curves": curves(run.folder)}


def figures(path: Path) -> dict[str, dict[str, float]]:
    """By stage, the figures of the final evaluation; the exact one is NashConv over the seats, in the game's unit."""
    data = read_results(path / "evaluation.json")
    stages: dict[str, dict[str, float]] = {}
    for player in data["evaluation"]["games"][0]["players"]:
        title = data["rows"].get(player["player"], player["player"])
        stage = "last" if ", last" in title else title.partition(" ")[0]
        stages[stage] = {name: estimate["mean"] for name, estimate in player["metrics"].items() if estimate}
        if "exploitability" in player["exact"]:
            stages[stage]["exact"] = player["exact"]["exploitability"]
    return {**stages, "last": stages["SEPO"]} if "last" not in stages and "SEPO" in stages else stages


def curves(run: RunFolder) -> dict[str, Any]:
    """Exploitability over training, exact and against the pool, and the gradient of the penalty over it."""
    metrics = read_metrics(run)
    data: dict[str, Any] = {}
    for name, end in (("exact", "exact/exploitability"), ("pool_advantage", "validation/pool_advantage")):
        for curve in (metrics[key] for key in metrics if key.endswith(end)):
            data[name] = {"steps": [step - curve.steps[0] for step in curve.steps], "values": curve.values}
    if "loss/kl" in metrics:
        data["kl"] = mean(metrics["loss/kl"].values[-10:]).mean
    if "signal/exploit/dot" in metrics:
        pairs = zip(metrics["signal/exploit/dot"].values, metrics["signal/exploit/noise"].values, strict=True)
        data["signal"] = signal_to_noise(list(pairs))
    path = run.path / "findings.json"
    findings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {**data, "checks": {name: finding["count"] for name, finding in findings.items()}}


def signal_to_noise(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Measure the agreement of the halves of the penalty's gradient; with the verdict of the check `silent_term`."""
    signals = SignalToNoiseTracker()
    for dot, noise in pairs:
        signals.add({"exploit": GradientSignal(dot, noise, constant=noise == 0.0)})
    signal = signals.estimates()["exploit"]
    numbers = {"dot": signal.mean, "noise": signal.noise, "ratio": signal.ratio}
    return {"count": signal.count, "varied": signal.varied, **numbers, "verdict": signal.verdict}


def over_seeds(values: Sequence[float]) -> str:
    """Format the mean and the standard error over seeds; a dash where there is no seed."""
    if not values:
        return DASH
    estimate = mean(values)
    return number(estimate.mean) + (f" \u00b1 {number(estimate.se)}" if estimate.se else "")


def stage_rows(runs: Mapping[str, Sequence[Row]], game: str) -> Iterator[list[str]]:
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
            yield [f"*{stage}, {model}*", *(DASH if math.isnan(value) else f"*{number(value)}*" for value in shown)]


def _stage_row(title: str, runs: Sequence[Mapping[str, Mapping[str, float]]], stage: str) -> list[str]:
    cells = ([run[stage][name] for run in runs if name in run.get(stage, {})] for name in SHOWN)
    return [title, *map(over_seeds, cells)]


def differences(runs: Sequence[Row], control: Sequence[Row], pick: Pick) -> dict[int, float]:
    """Return a figure less that of the control, by seed."""
    own, other = (by_seed((run["seed"], pick(run)) for run in rows) for rows in (runs, control))
    return pair_seeds(own, other)


def compared(family: Family, gaps: Mapping[str, BySeed]) -> Iterator[list[str]]:
    """Yield a row for each comparison of a family that has two seeds: mean, interval, p by sign flips, Holm's p."""
    for test in paired_tests(family, gaps, sign_flips(Key(0).at("sepo"))).values():
        estimate = test.estimate
        if test.p is not None and estimate.low is not None and estimate.high is not None:
            ends = f"{number(estimate.low)} to {number(estimate.high)}"
            yield [test.name, str(estimate.n), number(estimate.mean), ends, number(test.p), number(test.holm_p)]


def last_exact(run: Row) -> float | None:
    """Exact exploitability after the last iteration."""
    values: Sequence[float] = run["curves"].get("exact", {}).get("values", ())
    return values[-1] if values else None


def arm_rows(runs: Mapping[str, Sequence[Row]]) -> Iterator[list[str]]:
    """A row for each arm: exploitability at the start, the last and the chosen checkpoint, and the penalty's signal."""
    for name in (name for name in ARMS if name in runs):
        own = runs[name]
        exact = [run["curves"]["exact"]["values"] for run in own]
        signals = [run["curves"]["signal"] for run in own if "signal" in run["curves"]]
        stages = [run["stages"]["SEPO"] for run in own]
        verdicts = [signal["verdict"] for signal in signals]
        yield [
            name,
            str(len(own)),
            *(over_seeds([values[index] for values in exact]) for index in (0, -1)),
            *(
                over_seeds([stage[key] for stage in stages if key in stage])
                for key in ("exact", "pool_advantage", "payoff", "safety")
            ),
            over_seeds([run["curves"]["kl"] for run in own if "kl" in run["curves"]]),
            over_seeds([signal["ratio"] for signal in signals]),
            ", ".join(f"{verdict} {verdicts.count(verdict)}" for verdict in dict.fromkeys(verdicts)),
        ]


def arm_differences(runs: Mapping[str, Sequence[Row]]) -> dict[str, dict[int, float]]:
    """Return each arm less its control in the last exact exploitability."""
    return {
        f"{arm} less {control}": differences(runs[arm], runs[control], last_exact)
        for arm, control in ARM_CONTROLS.items()
        if arm in runs and control in runs
    }


def claim_rows(runs: Mapping[str, Sequence[Row]], family: Family = ARM_FAMILY) -> Iterator[list[str]]:
    """A row for each arm: exploitability at the end, the direction of the penalty, the difference from its control."""
    tests = paired_tests(family, arm_differences(runs), sign_flips(Key(0).at("sepo")))
    for name, seeds, _, last, *_, direction, _ in arm_rows(runs):
        test = tests.get(f"{name} less {ARM_CONTROLS.get(name)}")
        gap = _difference(test.estimate, test.holm_p) if test else (DASH, DASH)
        yield [f"`{name}`", seeds, last, direction, *gap]


def headline_rows(runs: Mapping[str, Sequence[Row]]) -> Iterator[list[str]]:
    """A row a policy in Kuhn poker (chips a hand): payoff, the pool's figure, the exact one, the difference."""
    units = {"payoff": scale_of(make_game("kuhn")) or 1.0, "exact": 1.0}
    units["pool_advantage"] = 2.0 * units["payoff"]
    tests = paired_tests(ARM_FAMILY, arm_differences(runs), sign_flips(Key(0).at("sepo")))
    for title, (arm, stage) in HEADLINE.items():
        if arm not in runs:
            continue
        stages = [run["stages"][stage] for run in runs[arm]]
        test = tests.get(f"{arm} less {ARM_CONTROLS.get(arm)}") if stage == "last" else None
        figures = (
            [round(own[name] / units[name], 9) for own in stages] for name in ("payoff", "pool_advantage", "exact")
        )
        yield [title, *map(over_seeds, figures), *(_difference(test.estimate, test.holm_p) if test else (DASH, DASH))]


def response_rows(game: str, runs: Mapping[str, Sequence[Row]]) -> Iterator[list[str]]:
    """A row a policy in Leduc poker or liar's dice: payoff and exact figure, the difference, the chosen checkpoint."""
    tests = paired_tests(RESPONSE_FAMILIES[game], arm_differences(runs), sign_flips(Key(0).at("sepo")))
    for title, (arm, stage) in HEADLINE.items():
        if arm in RESPONSE_ARMS and arm in runs:
            own, trained = runs[arm], stage == "last"
            test = tests.get(f"{arm} less {ARM_CONTROLS.get(arm)}") if trained else None
            figures = (over_seeds([run["stages"][stage][name] for run in own]) for name in ("payoff", "exact"))
            chosen = over_seeds([run["stages"]["SEPO"]["exact"] for run in own]) if trained else DASH
            kl = over_seeds([run["curves"]["kl"] for run in own]) if trained else DASH
            gap = _difference(test.estimate, test.p) if test else (DASH, DASH)
            yield [title, str(len(own)), *figures, *gap, chosen, kl]


def _difference(estimate: Estimate, p: float | None) -> tuple[str, str]:
    return f"{number(estimate.mean)} [{number(estimate.low)}, {number(estimate.high)}]", number(p)


def control_differences(data: Games) -> dict[str, dict[int, float]]:
    """Return SEPO less the run without its penalties, in all games; the chosen checkpoints."""
    gaps = {
        f"{game}, {name}": differences(runs["tiny"], runs["control"], _chosen(name))
        for game, runs in data.items()
        if "tiny" in runs and "control" in runs
        for name in CONTROLLED
    }
    return {name: gap for name, gap in gaps.items() if gap}


def _chosen(name: str) -> Pick:
    return lambda run: run["stages"].get("SEPO", {}).get(name)


def print_game(game: str, runs: Mapping[str, Sequence[Row]]) -> None:
    """Print the tables of a game."""
    if "tiny" in runs:
        print(f"\n### {game}, {len(runs['tiny'])} seeds\n\n{markdown(['', *SHOWN], stage_rows(runs, game))}\n")
    if any(name in runs for name in ARMS):
        heads = ["arm", "seeds", "exact, start", "exact, last", "exact, chosen", "exploit, pool", "payoff", "safety"]
        heads += ["KL to the start", "direction", "verdicts"]
        print(f"\n### {game}, arms\n\n{markdown(heads, arm_rows(runs))}\n")
        if game == "kuhn":
            print(f"{markdown(HEADLINE_COLUMNS, headline_rows(runs))}\n")
        if game in RESPONSE_FAMILIES:
            print(f"{markdown(RESPONSE_COLUMNS, response_rows(game, runs))}\n")
        heads = ["difference, exact, last", *COMPARED]
        family = FAMILIES.get(game, ARM_FAMILY)
        if game not in RESPONSE_FAMILIES:
            print(f"{markdown(CLAIM_COLUMNS, claim_rows(runs, family))}\n")
        print(f"{markdown(heads, compared(family, arm_differences(runs)))}\n")


COMPARED = ("seeds", "mean", "95 %", "p", "Holm p")


def main() -> None:
    """Write the JSON and print the tables."""
    arguments = table_command_line(__doc__).parse_args()
    data = merged_by_game(read_results(arguments.out), list(finished(arguments.folder)))
    write_results(arguments.out, data)
    for game, runs in data.items():
        print_game(game, runs)
    if gaps := control_differences(data):
        print(f"\n### SEPO less no penalty\n\n{markdown(['', *COMPARED], compared(CONTROL_FAMILY, gaps))}\n")


if __name__ == "__main__":
    main()
