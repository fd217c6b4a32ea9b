"""One piece of work in a process of its own, which is killed on demand and at its limits of memory and time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.base.file_modules import handed_files
from stratagem.base.garbage import resident_memory
from stratagem.playing.workers.processes import Begin

_PAUSE = 0.1
"""Seconds between two looks at the memory and the time of a process."""
_MIB = 1 << 20
Work = Callable[[Any, Connection], Any]
"""Function of a module, from an item and a connection to the caller to its result."""


class ProcessLimits(NamedTuple):
    """Limits of a process."""

    memory: int
    """Bytes of resident memory."""
    seconds: float
    """Time from its start."""


class WorkEnded(StratagemError):
    """Work that ended without a result: it failed, was killed, or reached a limit."""


class _Failure(NamedTuple):
    """Failure of the work, on its way to the caller."""

    sentence: str


class _Result(NamedTuple):
    """Result of the work, on its way to the caller."""

    value: Any


class LimitedProcess:
    """Process with one piece of work; what the work sends comes out of `messages`."""

    def __init__(self, work: Work, item: Any, limits: ProcessLimits, num_threads: int = 1) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        ends, self._stop = context.Pipe(duplex=False)
        given = deepcopy(handed_files())
        given.consent.strict = True  # its work comes from a page
        begin = Begin(ends, num_threads, given)
        self._limits, self._begun = limits, time.monotonic()
        self._killed, self._ending, self._sending = False, threading.Lock(), threading.Lock()
        self._process = context.Process(target=_run, args=(begin, work, item, theirs), daemon=True)
        self._process.start()
        theirs.close()
        ends.close()

    def send(self, message: Any) -> None:
        """Send something to the work; lost where it has ended."""
        with suppress(OSError), self._sending:  # two threads would write into each other's pickles
            self._connection.send(message)

    def messages(self) -> Iterator[Any]:
        """Yield what the work sends, its result last; raises `WorkEnded` where there is none."""
        try:
            while True:
                self._check()
                if not self._connection.poll(_PAUSE):
                    continue
                message = self._connection.recv()
                if isinstance(message, _Failure):
                    raise WorkEnded(message.sentence)
                if isinstance(message, _Result):
                    yield message.value
                    return
                yield message
        except (EOFError, OSError):
            raise WorkEnded(self._reason()) from None
        finally:
            self.kill()

    def kill(self) -> None:
        """End the process and all that it started, at once."""
        self._killed = True
        with self._ending:
            if self._process.pid is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join()
            self._stop.close()

    def _reason(self) -> str:
        if self._killed:
            return "It was cancelled."
        self._process.join(1.0)
        return f"Its process ended with status {self._process.exitcode} before there was a result."

    def _check(self) -> None:
        """Refuse to go on beyond the limits."""
        if time.monotonic() - self._begun > self._limits.seconds:
            raise WorkEnded(f"It was ended after {self._limits.seconds:g} seconds, which is its limit of time.")
        used = resident_memory(self._process.pid or 0)
        if used > self._limits.memory:
            raise WorkEnded(
                f"It was ended at {used // _MIB:,} MiB of memory: its limit is {self._limits.memory // _MIB:,} MiB."
            )


def _run(begin: Begin, work: Work, item: Any, connection: Connection) -> None:
    """Do the work in this process, and tell its result or its failure."""
    os.setsid()  # what the work starts is killed with it
    begin()
    try:
        told: _Result | _Failure = _Result(work(item, connection))
    except StratagemError as error:
        told = _Failure(str(error))
    except Exception as error:
        told = _Failure(f"It broke off by a defect: {type(error).__name__}: {error}")
        connection.send(told)
        raise
    with suppress(OSError):  # nobody waits any more
        connection.send(told)
