"""Metrics of a run: a line of JSON for each step, and the same numbers as TensorBoard's events and for trackers.

A name is a path, as in `game/illegal_rate`. What is not a number is null; an infinite value is 1e999, which is JSON and
is read as infinite. Nothing in a line depends on when it was written, so a run and its repetition have the same bytes.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.files import parse_json, read_bounded
from stratagem.base.renamed.metrics import present_metric
from stratagem.training.runs.files import sync, telling, write_file
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.trackers.tracks import Tracks

FILE = "metrics.jsonl"
_LARGEST = 1 << 29
"""Largest number of bytes of the metrics of a run."""
_NAME = re.compile(r"[^\s/\ud800-\udfff]+(/[^\s/\ud800-\udfff]+)*")


class Curve(NamedTuple):
    """Values of one metric by step."""

    steps: list[int]
    values: list[float]


class CountedMetrics(NamedTuple):
    """Extent of the metrics that a checkpoint counts: number of lines and bytes, and their digest."""

    lines: int
    size: int
    digest: str


class MetricLog:
    """Writer of a run's metrics; when `write` returns, they outlive the process."""

    def __init__(self, run: RunFolder) -> None:
        from stratagem.training.runs.events import EventFile  # tensorboardX loads torch where it is installed

        path = run.path / FILE
        rows = [row for _, row in _rows(_read(path))]
        self._step = max((row["step"] for row in rows), default=-1)
        earlier = [(row["step"], _values(row)) for row in rows]
        self._tracks = Tracks(run, earlier)
        with telling(path):
            self._events = EventFile(run.path, earlier)
            self._lines = path.open("ab")

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write the metrics of a step; steps do not fall, and one may have several lines."""
        if step < max(0, self._step):
            raise ValueError(f"metrics of step {step} cannot follow those of step {self._step}")
        line = _line(step, values)
        with telling(Path(self._lines.name)):
            self._lines.write(line)
            self._lines.flush()
            self._events.write(step, values)
        self._tracks.write(step, values)
        self._step = step

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._lines.close()
        self._events.close()
        self._tracks.close(failed=kind is not None)


def read_metrics(run: RunFolder) -> dict[str, Curve]:
    """Read all metrics of a run by name, also while it is running."""
    data = _read(run.path / FILE)
    rows = list(_rows(data))
    end = rows[-1][0] if rows else 0
    if b"\n" in data[end:]:  # what has no end yet is being written
        raise BadRecord(f"{run.path / FILE} has a line without metrics, {end} bytes from its start.")
    curves: dict[str, Curve] = {}
    for _, row in rows:
        for name in (name for name in row if name != "step"):
            curve = curves.setdefault(name, Curve([], []))
            curve.steps.append(row["step"])
            curve.values.append(_value(row[name]))
    return curves


def counted_metrics(run: RunFolder) -> CountedMetrics:
    """Count all metrics written so far."""
    data = _read(run.path / FILE)
    return CountedMetrics(data.count(b"\n"), len(data), blake2b(data, digest_size=16).hexdigest())


def cut_metrics(run: RunFolder, lines: int) -> None:
    """Cut the file to so many lines, without a torn one."""
    path = run.path / FILE
    with telling(path):
        if path.is_file():
            os.truncate(path, max((end for end, _ in islice(_rows(_read(path)), lines)), default=0))
        sync_metrics(run)


def damage(run: RunFolder, counted: CountedMetrics) -> str:
    """Describe damage in the metrics that a checkpoint counts; empty where they are unchanged."""
    data = _read(run.path / FILE)[: counted.size]
    if (whole := sum(_row(line) is not None for line in _lines(data))) < counted.lines:
        return f"has {whole} complete lines of the {counted.lines}"
    return "has other lines than those" if blake2b(data, digest_size=16).hexdigest() != counted.digest else ""


def mend_metrics(run: RunFolder, counted: CountedMetrics) -> None:
    """Replace each counted line that cannot be read by a line without figures.

    So every other line stays, and later checkpoints count as they did. To be called when the original file has been
    set aside.
    """
    mended, step = list[bytes](), 0
    for line in _lines(_read(run.path / FILE)[: counted.size]):
        row = _row(line)
        step = step if row is None else row["step"]
        mended.append(_line(step, {}) if row is None else line)
    mended += [_line(step, {})] * (counted.lines - len(mended))
    write_file(run.path / FILE, b"".join(mended[: counted.lines]).decode())


def sync_metrics(run: RunFolder) -> None:
    """Wait until all metrics are on the disk."""
    sync(*(path for path in [run.path / FILE] if path.is_file()))


def _values(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: _value(written) for name, written in row.items() if name != "step"}


def _value(written: float | None) -> float:
    return math.nan if written is None else float(written)


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
    try:
        return read_bounded(path, _LARGEST) if path.is_file() else b""
    except ValueError as error:
        raise BadRecord(f"{path} cannot be read: {error}.") from error


def _rows(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the complete lines, each with its end, up to the first incomplete one."""
    end = 0
    for line in _lines(data):
        if (row := _row(line)) is None:
            return
        end += len(line)
        yield end, row


def _lines(data: bytes) -> list[bytes]:
    """Split into lines with their ends; a damaged one may contain another kind of line break."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def _is_whole(value: object) -> bool:
    """Return whether this is a whole number that a float can hold."""
    return type(value) is int and value.bit_length() < sys.float_info.max_exp


def _row(line: bytes) -> dict[str, Any] | None:
    """Parse a line, in which metrics may have their former names; None where it is incomplete."""
    try:
        row = parse_json(line)
    except ValueError:
        return None
    if not line.endswith(b"\n") or not isinstance(row, dict) or type(row.get("step")) is not int:
        return None
    numbers = all(type(value) in (float, type(None)) or _is_whole(value) for value in row.values())
    return {present_metric(key): value for key, value in row.items()} if numbers else None
