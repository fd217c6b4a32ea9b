"""Page of a sweep: hypothesis and verdict, arms with intervals, and a curve per seed."""

from __future__ import annotations

from math import isfinite
from typing import Any

from stratagem.base.number_texts import number
from stratagem.measure.statistics import Estimate
from stratagem.show.html import Html, element, join
from stratagem.show.reports.figure import PictureFacts, count_noun, label, picture
from stratagem.show.reports.page import header, page
from stratagem.show.reports.section import Section, missing, table
from stratagem.sweeps.comparison import ArmFigures, ArmsComparison
from stratagem.training.runs.metrics import Curve


def comparison_page(name: str, comparison: ArmsComparison) -> str:
    """Return the whole document."""
    plan = comparison.plan
    left_out = [text for arm in comparison.arms if (text := arm.left_out())]
    sentences = [plan.hypothesis, *(verdict.sentence() for verdict in comparison.verdicts), *left_out]
    tiles = [
        ("verdict", comparison.word),
        ("metric", f"{plan.metric}, {plan.aggregate}, to {plan.direction}"),
        ("arms", str(len(comparison.arms))),
        ("seeds", ", ".join(map(str, plan.seeds))),
        ("commit", comparison.sources or "none"),
    ]
    top = header(name, comparison.word, "", sentences, tiles)
    return page(f"{name}: {comparison.word}", top, [_arms(comparison), _curves(comparison)])


def _arms(comparison: ArmsComparison) -> Section:
    rows = [
        [
            arm.name,
            _mean_and_interval(arm.estimate()),
            *(number(arm.by_seed.get(seed), 4) for seed in comparison.plan.seeds),
        ]
        for arm in comparison.arms
    ]
    heads = ["arm", "mean and 95 % interval", *(f"seed {seed}" for seed in comparison.plan.seeds)]
    return Section(
        name="arms",
        title="Arms by seed",
        shows=f"{comparison.plan.metric}: means over seeds with 95 % intervals by Student\u2019s t.",
        body=table(heads, rows),
    )


def _mean_and_interval(estimate: Estimate) -> str:
    if not estimate.n:
        return number(None)
    if estimate.low is None:
        return f"{number(estimate.mean, 4)} (one seed)"
    return f"{number(estimate.mean, 4)}  ({number(estimate.low, 4)} \u2026 {number(estimate.high, 4)})"


def _curves(comparison: ArmsComparison) -> Section:
    """Draw a picture for each arm with its own seeds, all on one scale."""
    scale = _scale(comparison)
    pictures = [_picture(arm, scale) for arm in comparison.arms if arm.curves]
    body: Html = (
        element("div", *pictures, class_="facets") if pictures else missing("No run has logged this metric yet.")
    )
    return Section("curves", "Metrics over training", "One curve per seed. All arms have the same scale.", join(body))


def _scale(comparison: ArmsComparison) -> list[float]:
    """Return the range of the vertical axis: all values and 0, with a margin."""
    values = [
        value for arm in comparison.arms for curve in arm.curves.values() for value in curve.values if isfinite(value)
    ]
    if not values:
        return [0.0, 1.0]
    low, high = min(0.0, *values), max(0.0, *values)
    margin = 0.05 * (high - low) or 1.0
    return [low - margin, high + margin]


def _picture(arm: ArmFigures, scale: list[float]) -> Html:
    traces = [_trace(seed, curve, index) for index, (seed, curve) in enumerate(arm.curves.items())]
    steps = max((len(curve.steps) for curve in arm.curves.values()), default=0)
    reading = PictureFacts(
        "that of the metric",
        f"{count_noun(steps)}, {count_noun(len(traces), 'seed')}",
        "none, every seed is drawn",
        "not measured",
    )
    return picture(arm.name, traces, {"showlegend": True, "yaxis": {"range": scale}}, reading=reading)


def _trace(seed: int, curve: Curve, index: int) -> dict[str, Any]:
    role = f"rival-{index % 6 + 1}"
    return {"x": curve.steps, "y": curve.values, "role": role, "name": label(f"seed {seed}"), "mode": "lines"}
