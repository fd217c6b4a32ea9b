"""Lock on a file, for one process at a time; the system releases it when its process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stratagem.base.errors import StratagemError
from stratagem.base.files import telling

_TRIES, _PAUSE = 20, 0.01
"""Retries, since a process that only checks the lock holds it for some microseconds."""


_held: dict[Path, IO[str]] = {}
"""Open files whose locks this process holds, by their resolved paths."""


class LockHeld(StratagemError):
    """Lock that another process holds."""


@contextmanager
def hold_lock(path: Path, what: str) -> Iterator[None]:
    """Exclude other processes within; refused where another one holds the lock."""
    with _take_lock(path, what):
        yield


@contextmanager
def wait_for_lock(path: Path) -> Iterator[None]:
    """Exclude other processes within, after those that hold the lock have released it."""
    with telling(path):
        file = _open_lock(path, os.O_RDWR | os.O_CREAT)
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def hold(path: Path, what: str) -> None:
    """Exclude other processes until `release`, or the end of this one, which may hold a lock anew."""
    release(path)
    _held[path.resolve()] = _take_lock(path, what)


def release(path: Path) -> None:
    """Release a lock that this process holds, if it does."""
    if (file := _held.pop(path.resolve(), None)) is not None:
        file.close()


def _take_lock(path: Path, what: str) -> IO[str]:
    """Return the open file of a lock; refused where another process holds it."""
    with telling(path):
        file = _open_lock(path, os.O_RDWR | os.O_CREAT)
    if not any(_try(file, fcntl.LOCK_EX, pause=_PAUSE * (number > 0)) for number in range(_TRIES)):
        file.close()
        raise LockHeld(f"Another process uses {what}: wait until it has ended, or stop it.")
    return file


def is_locked(path: Path) -> bool:
    """Return whether some process is within `hold_lock` now."""
    try:
        with _open_lock(path, os.O_RDONLY) as file:
            return not _try(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


def _open_lock(path: Path, flags: int) -> IO[str]:
    """Open the file of a lock; a folder, a pipe or a device in its place is refused, and none is waited for."""
    if path.exists() and not path.is_file():
        raise StratagemError(f"{path} should be a file, which processes lock: remove what is there.")
    return os.fdopen(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666), "r+" if flags & os.O_RDWR else "r")


def _try(file: IO[str], kind: int, pause: float = 0.0) -> bool:
    time.sleep(pause)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
