"""Concurrent requests for synchronous callers: an event loop on a thread of its own.

So a caller may itself run in an event loop, as a notebook does, and connections stay open from one call to the next.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar


class Closable(Protocol):
    """Resource that is open, and closed at the end."""

    async def aclose(self) -> None: ...


C = TypeVar("C", bound=Closable)
T = TypeVar("T")


@dataclass(frozen=True)
class _Home(Generic[C]):
    opened: C
    thread: threading.Thread
    loop: asyncio.AbstractEventLoop
    over: asyncio.Event

    def end(self) -> None:
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.over.set)


class Background(Generic[C]):
    """Owner of one open resource in a loop of its own, which ends with this object."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._starting = threading.Lock()
        self._home: _Home[C] | None = None

    def start(self, work: Callable[[C], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start work on the resource; its future can be cancelled."""
        home = self._at_home()
        return asyncio.run_coroutine_threadsafe(work(home.opened), home.loop)

    def run(self, work: Callable[[C], Coroutine[Any, Any, T]]) -> T:
        """Run work on the resource and return its result; a caller that is interrupted interrupts the work."""
        future = self.start(work)
        try:
            return future.result()
        finally:
            future.cancel()  # does nothing where it is done

    def _at_home(self) -> _Home[C]:
        """Return the running loop: a new one at first, and in a forked process, which inherits no threads."""
        with self._starting:
            if self._home is None or not self._home.thread.is_alive():
                self._home = _start(self._make())
                weakref.finalize(self, self._home.end)
            return self._home


def _start(opened: C) -> _Home[C]:
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_stay(opened, ready)), name="stratagem-server", daemon=True)
    thread.start()
    return _Home(opened, thread, *ready.result())


async def _stay(opened: Closable, ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    over = asyncio.Event()
    async with aclosing(opened):
        ready.set_result((asyncio.get_running_loop(), over))
        await over.wait()


async def wait_until_ended() -> None:
    """Wait until cancelled work in this loop has ended, so that nothing is sent any more."""
    cancelled = [task for task in asyncio.all_tasks() if task.cancelling()]
    if cancelled:
        await asyncio.wait(cancelled)
