"""TensorBoard's event file of a run, written by tensorboardX from the same numbers as `metrics.jsonl`.

Every session writes a file of its own that begins with all earlier steps, and empties the file before it. So the curves
of a resumed run have no step twice and no torn record, and nothing ever has to read such a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tensorboardX.proto.event_pb2 import Event, SessionLog
from tensorboardX.proto.summary_pb2 import Summary
from tensorboardX.record_writer import RecordWriter

from stratagem.training.runs.files import number_paths

PREFIX = "events.out.tfevents."
"""Start of the files' names.

TensorBoard takes files with `tfevents` in the name, in the order of their names; a number of one length follows.
"""
_SECONDS = 5.0
"""Time between two flushes; each waits for the disk."""


class EventFile:
    """The event file of a session."""

    def __init__(self, folder: Path, rows: Iterable[tuple[int, Mapping[str, float]]] = ()) -> None:
        """Start a file with `rows`, the steps of earlier sessions with their scalars."""
        earlier = event_files(folder)
        self._writer = RecordWriter(str(folder / f"{PREFIX}{max(earlier, default=0) + 1:010d}"))
        self._flushed = time.monotonic()
        self._put(0, file_version="brain.Event:2")
        if earlier:
            self._put(0, session_log=SessionLog(status=SessionLog.START))  # forgets what was read of other files
        for step, values in rows:
            self._scalars(step, values)
        self._writer.flush()
        for path in earlier.values():
            _retire(path)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Add the scalars of a step."""
        self._scalars(step, values)
        if time.monotonic() - self._flushed > _SECONDS:
            self._writer.flush()
            self._flushed = time.monotonic()

    def _scalars(self, step: int, values: Mapping[str, float]) -> None:
        scalars = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._put(step, summary=Summary(value=scalars))

    def _put(self, step: int, **what: Any) -> None:
        self._writer.write(Event(wall_time=time.time(), step=step, **what).SerializeToString())

    def close(self) -> None:
        """Close the file."""
        self._writer.flush()
        self._writer.close()


def _retire(path: Path) -> None:
    """Empty a file: a TensorBoard that has it open goes on to the next one, and stops where it is gone."""
    if path.stat().st_size:
        os.truncate(path, 0)
    else:
        path.unlink()


def event_files(folder: Path) -> dict[int, Path]:
    """Return the event files of a folder, by number, in order."""
    return number_paths(folder.glob(f"{PREFIX}*"), PREFIX)
