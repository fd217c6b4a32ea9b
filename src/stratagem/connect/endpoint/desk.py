"""Desk of the models: one thread on which all engines work, since an engine serves one caller at a time.

Requests of all open jobs are answered together, and a job that arrives later joins them. A job that fails, or that
nobody waits for any more, leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from stratagem.language.engines.base import Call
from stratagem.playing.dispatch import Dispatcher

_PAUSE = 0.002
"""Seconds between two looks at engines that wait for something elsewhere."""
Work = Callable[[], Any]
"""Function that returns a result, or a generator that yields requests, is sent the replies and returns the result."""


@dataclass(eq=False)
class RequestJob:
    """Work of one request."""

    work: Work
    future: Future[Any] = field(default_factory=Future)
    turn: Generator[Any, Call, Any] | None = None
    ticket: int | None = None


class Desk:
    """Thread for jobs of models."""

    def __init__(self) -> None:
        self._arrived: SimpleQueue[RequestJob | None] = SimpleQueue()
        self._queue = Dispatcher()
        self._open: dict[int, RequestJob] = {}
        self._thread = Thread(target=self._run, name="stratagem-desk", daemon=True)
        self._thread.start()

    def start(self, work: Work) -> Future[Any]:
        """Start a job; a future that is cancelled gives it up."""
        job = RequestJob(work)
        job.future.add_done_callback(lambda future: self._arrived.put(job) if future.cancelled() else None)
        self._arrived.put(job)
        return job.future

    def close(self) -> None:
        """End the thread; open jobs are given up."""
        self._arrived.put(None)
        self._thread.join()

    def _run(self) -> None:
        while self._take():
            self._poll()
        for job in list(self._open.values()):
            self._forget(job)

    def _take(self) -> bool:
        """Begin or give up the jobs that arrived; wait for one if none is open. False at the end."""
        while not self._open or not self._arrived.empty():
            job = self._arrived.get()
            if job is None:
                return False
            if job.future.cancelled():
                self._forget(job)
            elif job.ticket is None:
                self._begin(job)
        return True

    def _begin(self, job: RequestJob) -> None:
        try:
            result = job.work()
        except Exception as error:  # noqa: BLE001 - the fault is told to the caller of this job, and to no other
            return self._settle(job, error=error)
        if not isinstance(result, Generator):
            return self._settle(job, result)
        job.turn = result
        return self._go_on(job, None)

    def _go_on(self, job: RequestJob, sent: Call | None) -> None:
        """Let a job go on up to its next request."""
        assert job.turn is not None
        try:
            request = next(job.turn) if sent is None else job.turn.send(sent)
            (job.ticket,) = self._queue.submit([request])
        except StopIteration as stop:
            return self._settle(job, stop.value)
        except Exception as error:  # noqa: BLE001 - as above
            return self._settle(job, error=error)
        self._open[job.ticket] = job
        return None

    def _poll(self) -> None:
        """Take the answers that are there; without any, wait for a moment or for the next job."""
        try:
            answered = self._queue.poll(wait=False)
        except Exception as error:  # noqa: BLE001 - an engine broke: its open jobs cannot be told apart, so all end
            return self._break_off(error)
        for ticket, call in answered:
            if (job := self._open.pop(ticket, None)) is not None:
                self._go_on(job, call)
        if not answered and self._open:
            with suppress(Empty):
                self._arrived.put(self._arrived.get(timeout=_PAUSE))
        return None

    def _break_off(self, error: Exception) -> None:
        broken, self._open = list(self._open.values()), {}
        with suppress(Exception):
            self._queue.cancel()
        self._queue = Dispatcher()
        for job in broken:
            self._settle(job, error=error)

    def _forget(self, job: RequestJob) -> None:
        if job.ticket is not None and self._open.pop(job.ticket, None) is not None:
            self._queue.forget([job.ticket])
            job.future.cancel()

    @staticmethod
    def _settle(job: RequestJob, result: Any = None, *, error: Exception | None = None) -> None:
        """Hand over the outcome, unless nobody waits for it."""
        if job.future.set_running_or_notify_cancel():
            if error is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(error)
