"""A sweep as one page: the hypothesis and its verdict, the arms with their intervals, every seed's curve."""

from __future__ import annotations

from math import isfinite
from typing import Any

from stratagem.evaluation.statistics import Estimate
from stratagem.reports.figure import label, picture
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number
from stratagem.reports.page import header, page
from stratagem.reports.section import Section, missing, table
from stratagem.runs.metrics import Curve
from stratagem.sweeps.comparison import ArmFigures, Comparison


def comparison_page(name: str, found: Comparison) -> str:
    """The whole document."""
    plan = found.plan
    left_out = [said for arm in found.arms if (said := arm.left_out())]
    verdict = [plan.hypothesis, *(one.sentence() for one in found.verdicts), *left_out]
    tiles = [
        ("verdict", found.word),
        ("figure", f"{plan.metric}, {plan.at}, {plan.better} is better"),
        ("arms", str(len(found.arms))),
        ("seeds", ", ".join(map(str, plan.seeds))),
        ("commit", found.sources or "none"),
    ]
    top = header(name, found.word, "", verdict, tiles)
    return page(f"{name}: {found.word}", top, [_arms(found), _curves(found)])


def _arms(found: Comparison) -> Section:
    rows = [
        [arm.name, _told(arm.estimate()), *(number(arm.by_seed.get(seed), 4) for seed in found.plan.seeds)]
        for arm in found.arms
    ]
    heads = ["arm", "mean and 95 % interval", *(f"seed {seed}" for seed in found.plan.seeds)]
    return Section(
        name="arms",
        title="Every arm, every seed",
        shows=f"{found.plan.metric}: means over seeds with intervals by Student\u2019s t.",
        body=table(heads, rows),
    )


def _told(estimate: Estimate) -> str:
    if not estimate.n:
        return number(None)
    if estimate.low is None:
        return f"{number(estimate.mean, 4)} (one seed)"
    return f"{number(estimate.mean, 4)}  ({number(estimate.low, 4)} \u2026 {number(estimate.high, 4)})"


def _curves(found: Comparison) -> Section:
    """A picture an arm with its own seeds, all on one scale."""
    scale = _scale(found)
    pictures = [_picture(arm, scale) for arm in found.arms if arm.curves]
    body: Html = element("div", *pictures, class_="facets") if pictures else missing("No run has this figure yet.")
    return Section("curves", "Over training", "Every seed by itself, every arm on the same scale.", join(body))


def _scale(found: Comparison) -> list[float]:
    """From below the least to above the greatest of all values and 0, so that no difference looks larger than it is."""
    values = [value for arm in found.arms for curve in arm.curves.values() for value in curve.values if isfinite(value)]
    if not values:
        return [0.0, 1.0]
    low, high = min(0.0, *values), max(0.0, *values)
    margin = 0.05 * (high - low) or 1.0
    return [low - margin, high + margin]


def _picture(arm: ArmFigures, scale: list[float]) -> Html:
    traces = [_trace(seed, curve, place) for place, (seed, curve) in enumerate(arm.curves.items())]
    return picture(arm.name, traces, {"showlegend": True, "yaxis": {"range": scale}})


def _trace(seed: int, curve: Curve, place: int) -> dict[str, Any]:
    role = f"rival-{place % 6 + 1}"
    return {"x": curve.steps, "y": curve.values, "role": role, "name": label(f"seed {seed}"), "mode": "lines"}
