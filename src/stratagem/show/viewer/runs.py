"""Runs as data: a row of the table of runs, and the curves of one run."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from stratagem.base.errors import StratagemError
from stratagem.games.base import Json
from stratagem.show.reports.files import FindingSchema, PolicySchema
from stratagem.show.reports.main_figures import MainFigure, main_figures
from stratagem.show.reports.metric_reading import chance_of, unit_of
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.run_status import status_of
from stratagem.show.viewer.notes import note_of
from stratagem.show.viewer.sentences import sentence_of
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import Curve

_MOST_POINTS = 2000
"""Largest number of points of a curve in a page."""
_SPARK_POINTS = 60
_SCORE = "checkpoint_metric"
_READ = (
    "run.json", "config.toml", "status.json", "metrics.jsonl", "findings.json", "models.json", "newest.json",
    "evaluation.json", "policies",
)  # fmt: skip
"""Files that a page of a run shows."""
Stamps = tuple[tuple[int, int] | None, ...]


def run_row(name: str, run: RunFolder) -> Json:
    """Return a row of the table of runs; for a damaged run the error in a sentence."""
    note = note_of(run)
    noted = {"name": name, "note": note.note, "tags": list(note.tags)}
    try:
        return {**noted, **_row(run.path, _stamps(run.path), run.status().state)}
    except StratagemError as error:
        return {**noted, **damaged_row(sentence_of(error))}


def damaged_row(sentence: str) -> Json:
    """Return the row of a run that is not read, without its name and its note."""
    return {"state": "damaged", "sentence": sentence, "curve": None, "figures": []}


@lru_cache(maxsize=512)
def _row(path: Path, stamps: Stamps, state: str) -> Json:
    """Read a row again where a file, or the state, has changed."""
    run = RunFolder(path)
    status, data = status_of(run), RunData(run)
    figures, findings = main_figures(data), (data.findings or {}).values()
    score = data.curves.get(_SCORE)
    exact = {game: finite(value) for game, value in status["exploitability"].items()}
    return {
        **status,
        "exploitability": exact,
        "start_is_best": data.start_is_best,
        "policy": next((_shown_policy(game, found, data.chosen_step) for game, found in data.policies.items()), None),
        "figures": [_figure(figure) for figure in figures],
        "curve": _spark(figures[0]) if figures else None,
        "score": None if score is None else finite(score.values[-1]),
        "faults": sum(finding.level == "fault" for finding in findings),
        "notes": sum(finding.level != "fault" for finding in findings),
        "changed": max((stamp[0] for stamp in stamps if stamp), default=0) / 1e9,
        "begun": data.info.begun,
    }


def _shown_policy(game: str, found: Sequence[PolicySchema], best: int | None) -> Json:
    """Return the game and the step of a run's policy: that of the best checkpoint where it is stored, or the last."""
    return {"game": game, "step": best if best in {policy.step for policy in found} else found[-1].step}


def run_page(name: str, run: RunFolder) -> Json:
    """Return all that the page of a run shows."""
    row = run_row(name, run)
    if row["state"] == "damaged":
        return row
    return {**row, **_content(run.path, _stamps(run.path), row["state"])}


@lru_cache(maxsize=16)
def _content(path: Path, stamps: Stamps, state: str) -> Json:
    data = RunData(RunFolder(path))
    findings = data.findings or {}
    return {
        "path": str(path),
        "command": data.info.command,
        "settings": data.settings_text,
        "curves": {metric: curve_json(data, metric) for metric in sorted(data.curves)},
        "findings": {check: _finding(data, finding) for check, finding in findings.items()},
        "unreadable": list(data.broken.values()),
    }


def _finding(data: RunData, finding: FindingSchema) -> Json:
    """Return a finding, and the shard that has the games of its first step."""
    shard = None if finding.step is None else finding.step + data.sft_steps - 1
    return {**finding.model_dump(mode="json"), "shard": shard}


def curve_json(data: RunData, metric: str, most: int = _MOST_POINTS) -> Json:
    """Return a curve for a page with its unit and its chance level."""
    return {**_points(data.curves[metric], most), "unit": unit_of(data, metric), "chance": chance_of(data, metric)}


def _points(curve: Curve, most: int) -> Json:
    """Return the points of a curve: of a long one, those in equal distances and the last."""
    every = max(1, math.ceil(len(curve.steps) / most))
    places = list(range(0, len(curve.steps), every))
    if places and places[-1] != len(curve.steps) - 1:
        places.append(len(curve.steps) - 1)
    return {
        "steps": [curve.steps[place] for place in places],
        "values": [finite(curve.values[place]) for place in places],
        "points": len(curve.steps),
    }


def _figure(figure: MainFigure) -> Json:
    return {
        "name": figure.name, "game": figure.game, "metric": figure.metric, "unit": figure.unit,
        "better": figure.better, "start": figure.start[1], "last": figure.last[1],
        "best": figure.best and figure.best[1], "chance": figure.chance,
    }  # fmt: skip


def _spark(figure: MainFigure) -> Json:
    points = Curve(list(figure.points), list(figure.points.values()))
    return {"metric": figure.metric, "unit": figure.unit, **_points(points, _SPARK_POINTS)}


def settings_of(data: RunData) -> dict[str, str]:
    """Return all settings of a run by their dotted names, as texts."""
    flat: dict[str, str] = {}

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else str(key), inner)
        elif prefix:
            flat[prefix] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

    add("", data.settings)
    return flat


def finite(value: Any) -> float | None:
    """Return a number that JSON has; None for any other."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _stamps(path: Path) -> Stamps:
    return tuple(map(_stamp, (path / name for name in _READ)))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
