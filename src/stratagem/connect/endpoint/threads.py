"""Threads for scripted players: one a request, of limited number, so that a player that hangs holds up nobody else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any

from stratagem.connect.endpoint.refusal import RefusedRequest


class Threads:
    """Threads that each run one function; they end with the process, whatever they are at."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._busy = 0
        self._lock = Lock()

    def start(self, work: Callable[[], Any]) -> Future[Any]:
        """Start a function; refused where too many are at work."""
        return self._begin(lambda future: work())

    def start_all(self, works: Sequence[Callable[[], Any]]) -> Future[Any]:
        """Start functions one after another in one thread; none begins when nobody waits any more."""
        return self._begin(lambda future: [work() for work in works if not future.cancelled()])

    def _begin(self, work: Callable[[Future[Any]], Any]) -> Future[Any]:
        with self._lock:
            if self._busy >= self._most:
                raise RefusedRequest(
                    f"The server is busy: {self._busy} requests are at work.", status=503, code="overloaded"
                )
            self._busy += 1
        future: Future[Any] = Future()
        Thread(target=self._run, args=(work, future), name="stratagem-player", daemon=True).start()
        return future

    def _run(self, work: Callable[[Future[Any]], Any], future: Future[Any]) -> None:
        result, error = None, None
        try:
            result = work(future)
        except Exception as raised:  # noqa: BLE001 - the fault is told to the caller of this request
            error = raised
        finally:
            with self._lock:
                self._busy -= 1
        if not future.set_running_or_notify_cancel():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
