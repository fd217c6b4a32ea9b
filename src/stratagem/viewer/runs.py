"""Runs as data: a row of the table of runs, and the curves of one run."""

from __future__ import annotations

import math
from typing import Any

from stratagem.errors import StratagemError
from stratagem.games.base import Json
from stratagem.reports.run_data import RunData
from stratagem.reports.run_status import status_of
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import Curve

_MOST_POINTS = 2000
"""Largest number of points of a curve in a page."""
_EXACT = "/exact/exploitability"
_SCORE = "checkpoint_metric"


def run_row(name: str, run: RunFolder) -> Json:
    """Return a row of the table of runs; for a damaged run the error in a sentence."""
    try:
        status = status_of(run)
        curves = RunData(run).curves
    except StratagemError as error:
        return {"name": name, "state": "damaged", "sentence": str(error), "curve": None}
    shown = [metric for metric in curves if metric.endswith(_EXACT)] or [
        metric for metric in curves if metric == _SCORE
    ]
    exact = {game: _number(value) for game, value in status["exploitability"].items()}
    curve = {"metric": shown[0], **_curve(curves[shown[0]])} if shown else None
    score = curves.get(_SCORE)
    return {
        "name": name, **status, "exploitability": exact, "curve": curve,
        "score": None if score is None else _number(score.values[-1]),
    }  # fmt: skip


def run_page(name: str, run: RunFolder) -> Json:
    """Return all that the page of a run shows."""
    row, data = run_row(name, run), RunData(run)
    if row["state"] == "damaged":
        return row
    findings = data.findings or {}
    return {
        **row,
        "command": data.info.command,
        "begun": data.info.begun,
        "settings": data.settings_text,
        "curves": {metric: _curve(curve) for metric, curve in sorted(data.curves.items())},
        "findings": {check: finding.model_dump(mode="json") for check, finding in findings.items()},
        "unreadable": list(data.broken.values()),
    }


def _curve(curve: Curve) -> Json:
    """Return a curve for a page: of a long one, points in equal distances and the last."""
    every = max(1, math.ceil(len(curve.steps) / _MOST_POINTS))
    places = list(range(0, len(curve.steps), every))
    if places and places[-1] != len(curve.steps) - 1:
        places.append(len(curve.steps) - 1)
    return {
        "steps": [curve.steps[place] for place in places],
        "values": [_number(curve.values[place]) for place in places],
        "points": len(curve.steps),
    }


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
