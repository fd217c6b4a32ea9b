"""Lock on a file, for one process at a time; the system releases it when its process ends, however it ends."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stratagem.errors import StratagemError
from stratagem.runs.files import telling

_TRIES, _PAUSE = 20, 0.01
"""Retries, since a process that only checks the lock holds it for some microseconds."""


class Locked(StratagemError):
    """Lock that another process holds."""


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Exclude other processes within; refused where another one holds the lock."""
    with telling(path):
        file = path.open("a")
    with file:
        if not any(_try(file, fcntl.LOCK_EX, pause=_PAUSE * (number > 0)) for number in range(_TRIES)):
            raise Locked(f"Another process uses {what}: wait until it has ended, or stop it.")
        yield


def is_locked(path: Path) -> bool:
    """Return whether some process is within `locked` now."""
    try:
        with path.open() as file:
            return not _try(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


def _try(file: IO[str], kind: int, pause: float = 0.0) -> bool:
    time.sleep(pause)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
