"""Garbage collection of Python, less often, and free memory of the process that goes back to the system.

A model and its libraries are a million objects that never become garbage. A full collection looks at all of them again,
which took a fifth of an iteration with small models. Within `rare_collection` they are exempt, and young objects are
looked at less often.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

_THRESHOLDS = (20_000, 20, 50)
"""Numbers of new objects, of young collections and of middle collections between collections."""
collecting_rarely = False
"""True while a block of `rare_collection` is in progress."""


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect garbage less often within, as while libraries are imported; no object is exempt."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def skip_last_collection() -> None:
    """Exempt all objects from the collections at the end of the process, which free nothing that its end does not."""
    gc.freeze()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Collect garbage rarely within; existing objects are exempt. Within another such block it changes nothing.

    Garbage of earlier work is collected first. A command that has just imported its libraries within
    `fewer_collections` has none, and to look at all of them would take a tenth of its start. Where the program itself
    has exempt objects, they stay exempt. Python counts these one by one, so they are counted in the outer block alone.
    """
    global collecting_rarely
    if collecting_rarely:
        yield
        return
    collecting_rarely = True
    try:
        with nullcontext() if gc.get_freeze_count() else _exempting():
            yield
    finally:
        collecting_rarely = False


@contextmanager
def _exempting() -> Iterator[None]:
    """Exempt the existing objects within."""
    if gc.get_threshold() != _THRESHOLDS:
        gc.collect()
    gc.freeze()
    try:
        with fewer_collections():
            yield
    finally:
        gc.unfreeze()


class MemoryReturn:
    """Return of free memory to the system: glibc's `malloc_trim`, at most once in `seconds`.

    glibc keeps what was freed between blocks in use. Each iteration leaves other gaps, so a long training grew by what
    it did not need. With another C library this does nothing.
    """

    def __init__(self, seconds: float = 10.0) -> None:
        self.seconds = seconds
        self._trim = malloc_trim()
        self._last = time.monotonic()

    def __call__(self) -> bool:
        """Return whether memory was returned now."""
        now = time.monotonic()
        if self._trim is None or now - self._last < self.seconds:
            return False
        self._last = now
        self._trim(0)
        return True


def malloc_trim() -> Callable[[int], int] | None:
    """Return glibc's function; None where the C library has none."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # TypeError: Windows has no library of the process itself
        return None
    return trim
