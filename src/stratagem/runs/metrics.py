"""Metrics of a run: a line of JSON for each step, and the same numbers as TensorBoard's events.

A name is a path, as in `game/illegal_rate`. What is not a number is null; an infinite value is 1e999, which is JSON and
is read as infinite. Nothing in a line depends on when it was written, so a run and its repetition have the same bytes.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from stratagem.errors import BadParameter, BadRecord
from stratagem.runs.events import EventFile, cut_events, event_files
from stratagem.runs.files import sync, telling
from stratagem.runs.folder import RunFolder

FILE = "metrics.jsonl"
_NAME = re.compile(r"[^\s/\ud800-\udfff]+(/[^\s/\ud800-\udfff]+)*")


class Curve(NamedTuple):
    """One metric over a run, at the steps at which it was measured."""

    steps: list[int]
    values: list[float]


class MetricLog:
    """Where a run's metrics are written; they are with the system, and outlive the process, when `write` returns."""

    def __init__(self, run: RunFolder) -> None:
        path = run.path / FILE
        self._step = _last_step(path)
        with telling(path):
            self._events = EventFile(run.path, after=self._step)
            self._lines = path.open("ab")

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Add what was measured at a step; steps do not fall, and one may have several lines."""
        if step < max(0, self._step):
            raise ValueError(f"metrics of step {step} cannot follow those of step {self._step}")
        line = _line(step, values)
        with telling(Path(self._lines.name)):
            self._lines.write(line)
            self._lines.flush()
            self._events.write(step, values)
        self._step = step

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._events.close()


def read_metrics(run: RunFolder) -> dict[str, Curve]:
    """All metrics of a run by name, also while it is running."""
    data = _read(run.path / FILE)
    rows = list(_rows(data))
    end = rows[-1][0] if rows else 0
    if b"\n" in data[end:]:  # what has no end yet is being written
        raise BadRecord(f"{run.path / FILE} has a line that is no metrics, {end} bytes from its start.")
    curves: dict[str, Curve] = {}
    for _, row in rows:
        for name in (name for name in row if name != "step"):
            curve = curves.setdefault(name, Curve([], []))
            curve.steps.append(row["step"])
            curve.values.append(math.nan if row[name] is None else row[name])
    return curves


def count_metrics(run: RunFolder) -> int:
    """How many lines were written."""
    return _read(run.path / FILE).count(b"\n")


def cut_metrics(run: RunFolder, lines: int) -> None:
    """Leave so many lines, and nothing torn."""
    path = run.path / FILE
    with telling(path):
        if path.is_file():
            os.truncate(path, max((end for end, _ in islice(_rows(_read(path)), lines)), default=0))
        cut_events(run.path, lines)
        sync_metrics(run)


def sync_metrics(run: RunFolder) -> None:
    """Wait until all metrics are on the disk."""
    sync(*(path for path in [run.path / FILE, *event_files(run.path).values()] if path.is_file()))


def _line(step: int, values: Mapping[str, float]) -> bytes:
    for name in values:
        if name == "step" or not _NAME.fullmatch(name):
            raise BadParameter(f"A metric cannot be called {name!r}: a name is a path, as in game/illegal_rate.")
    pairs = [f'"step": {step}', *(f"{json.dumps(name)}: {_number(float(x))}" for name, x in values.items())]
    return f"{{{', '.join(pairs)}}}\n".encode()


def _number(value: float) -> str:
    if math.isnan(value):
        return "null"
    return repr(value) if math.isfinite(value) else f"{math.copysign(1, value):.0f}e999"


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _last_step(path: Path) -> int:
    """The step of the last line; -1 where there is none."""
    return max((row["step"] for _, row in _rows(_read(path))), default=-1)


def _rows(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines that are whole, each with where it ends, up to the first that is not."""
    end = 0
    for line in data.splitlines(keepends=True):
        try:
            row = json.loads(line)
        except ValueError:
            return
        if not line.endswith(b"\n") or not isinstance(row, dict) or type(row.get("step")) is not int:
            return
        end += len(line)
        yield end, row
