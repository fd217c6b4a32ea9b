"""Memory of the process: garbage collection less often, free memory that goes back to the system, and what is used.

A model and its libraries are a million objects that never become garbage. A full collection looks at all of them again,
which took a fifth of an iteration with small models. Within `rare_collection` they are exempt, and young objects are
looked at less often.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import RLock

_THRESHOLDS = (20_000, 20, 50)
"""Numbers of new objects, of young collections and of middle collections between collections."""


class CollectionBlocks:
    """Blocks in progress, of all threads: the settings are those of the process, and return with the last block."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.fewer = 0
        """Number of blocks in which garbage is collected less often."""
        self.rare = 0
        """Number of blocks of `rare_collection`."""
        self.exempting = False
        """True while the objects that were there before the first of these are exempt by it."""
        self.thresholds = gc.get_threshold()
        """Thresholds before the first block."""

    def forget_threads(self) -> None:
        """Take a new lock in a forked child: the thread that may have held the old one is not in it."""
        self.lock = RLock()


blocks = CollectionBlocks()
if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=lambda: blocks.forget_threads())


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect garbage less often within, as while libraries are imported; no object is exempt."""
    with blocks.lock:
        if not blocks.fewer:
            blocks.thresholds = gc.get_threshold()
            gc.set_threshold(*_THRESHOLDS)
        blocks.fewer += 1
    try:
        yield
    finally:
        with blocks.lock:
            blocks.fewer -= 1
            if not blocks.fewer:
                gc.set_threshold(*blocks.thresholds)


def skip_last_collection() -> None:
    """Exempt all objects from the collections at the end of the process, which free nothing that its end does not."""
    gc.freeze()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Collect garbage rarely within; existing objects are exempt. Within another such block it changes nothing.

    Garbage of earlier work is collected first. A command that has just imported its libraries within
    `fewer_collections` has none, and to look at all of them would take a tenth of its start. Where the program itself
    has exempt objects, they stay exempt. Python counts these one by one, so they are counted in the outer block alone.
    Blocks of several threads are one block, from the beginning of the first to the end of the last.
    """
    with blocks.lock:
        if not blocks.rare:
            blocks.exempting = not gc.get_freeze_count()
            if blocks.exempting:
                _exempt()
        blocks.rare += 1
    try:
        with fewer_collections() if blocks.exempting else nullcontext():
            yield
    finally:
        with blocks.lock:
            blocks.rare -= 1
            if not blocks.rare and blocks.exempting:
                gc.unfreeze()


def _exempt() -> None:
    """Exempt the existing objects."""
    if gc.get_threshold() != _THRESHOLDS:
        gc.collect()
    gc.freeze()


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


def resident_memory(process: int) -> int:
    """Return the resident memory of a process in bytes; 0 where it is gone."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0 if has_proc() else _memory_by_ps(process)


def has_proc() -> bool:
    """Return whether this system describes its processes in /proc, as Linux does and macOS does not."""
    return Path("/proc/self/statm").exists()


def _memory_by_ps(process: int) -> int:
    """Return the resident memory that `ps` prints in KiB."""
    printed = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False)
    return 1024 * int(printed.stdout.strip() or 0)
