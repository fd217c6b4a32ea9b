"""Tracks of a run: the metrics that its trackers get, also when it is resumed.

A tracker that fails while a run trains is left out from then on; the run and its own files go on.
"""

from __future__ import annotations

import json
import secrets
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stratagem.base.files import parse_json, read_small
from stratagem.training.runs.files import write_file
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.trackers.base import Track, TrackedRun, current, sentence

FILE = "trackers.json"
"""File with the id of the run, and for each tracker its page and the number of lines of metrics that it got."""
_SECONDS = 5.0
"""Time between two notes of that number; a killed run sends lines again, and they are equal."""
Row = tuple[int, Mapping[str, float]]


class Tracks:
    """Open tracks of a run."""

    def __init__(self, run: RunFolder, rows: Iterable[Row]) -> None:
        """Open the trackers, and send those of the earlier `rows` that they do not have."""
        self._path = run.path / FILE
        self._open: dict[str, Track] = {}
        self._noted = time.monotonic()
        if not (trackers := current()):
            return
        known = _read(run)
        self._id = str(known.get("id") or secrets.token_hex(8))
        self._notes: dict[str, Any] = dict(known.get("trackers") or {})
        about = TrackedRun(self._id, run.name, run.path, run.config_data())
        earlier = list(rows)
        self._lines = len(earlier)
        try:
            for tracker in trackers:
                self._begin(tracker.package, tracker.open(about), earlier)
        except BaseException:
            self.close(failed=True)
            raise
        self._note()

    def _begin(self, name: str, track: Track, earlier: Sequence[Row]) -> None:
        sent = _lines(self._notes.get(name))
        self._open[name] = track
        self._notes[name] = {"url": track.url, "lines": min(sent, self._lines)}
        for lines, (step, values) in enumerate(earlier[sent:], sent + 1):
            self._send(name, step, values, lines)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Send the metrics of a step."""
        if self._open:
            self._lines += 1
        for name in list(self._open):
            self._send(name, step, values, self._lines)
        if self._open and time.monotonic() - self._noted > _SECONDS:
            self._note()

    def close(self, *, failed: bool) -> None:
        """End the session."""
        if not self._open:
            return
        for name, track in self._open.items():
            try:
                track.close(failed=failed)
            except Exception as error:  # noqa: BLE001 - as below
                _warn(name, error)
        self._note()

    def _send(self, name: str, step: int, values: Mapping[str, float], lines: int) -> None:
        """Send the metrics of a step, with which the tracker has so many lines."""
        if name not in self._open:
            return None
        try:
            self._open[name].write(step, values)
        except Exception as error:  # noqa: BLE001 - a service's fault is no reason to stop training
            del self._open[name]
            return _warn(name, error)
        self._notes[name]["lines"] = lines
        return None

    def _note(self) -> None:
        write_file(self._path, json.dumps({"id": self._id, "trackers": self._notes}, indent=1) + "\n")
        self._noted = time.monotonic()


def track_urls(run: RunFolder) -> dict[str, str]:
    """Return the pages of a run by tracker."""
    notes = _read(run).get("trackers") or {}
    return {str(name): str(note["url"]) for name, note in notes.items() if isinstance(note, dict) and note.get("url")}


def _read(run: RunFolder) -> dict[str, Any]:
    """Read the notes of earlier sessions; none where there are none, or no notes of ours."""
    try:
        data = parse_json(read_small(run.path / FILE))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) and isinstance(data.get("trackers", {}), dict) else {}


def _lines(note: object) -> int:
    """Return the number of lines that a tracker has; none where the note says none."""
    lines = note.get("lines") if isinstance(note, dict) else None
    return lines if type(lines) is int and lines > 0 else 0


def _warn(name: str, error: Exception) -> None:
    warnings.warn(f"The tracker {name} failed and gets no more of this run: {sentence(error)}.", stacklevel=2)
