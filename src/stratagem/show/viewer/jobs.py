"""Jobs of the pages: work that takes long or costs money, one at a time, each in a process of its own.

A job that would call models is priced first, and waits for a click. A job that was done before is answered from the
cache, which may be lost at any time.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.base import Json
from stratagem.playing.workers.limited import LimitedProcess, ProcessLimits, Work, WorkEnded
from stratagem.show.viewer.sentences import sentence_of

JobState = Literal["waiting", "running", "priced", "done", "failed", "cancelled"]
ENDED: frozenset[JobState] = frozenset({"priced", "done", "failed", "cancelled"})
_GIB = 1 << 30
MINUTES = 10.0
_MOST_WAITING = 16
_MOST_KEPT = 200
"""Number of jobs, and of results, that are kept."""


def limits_of(minutes: float = MINUTES, memory: float | None = None) -> ProcessLimits:
    """Return the limits of a job of so many minutes and GiB; without a number it is half of the machine's memory."""
    if memory is None:
        memory = max(2.0, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 / _GIB)
    for name, value in {"job_minutes": minutes, "job_memory": memory}.items():
        if not 0.0 < value < float("inf"):
            raise BadParameter(f"`{name}=` is a number greater than 0, not {value:g}.")
    return ProcessLimits(memory=int(memory * _GIB), seconds=60.0 * minutes)


LIMITS = limits_of()


class Progress(NamedTuple):
    """Message of the work of a job: how much of it is done."""

    done: int
    total: int


class JobPrice(NamedTuple):
    """Result of a job that costs more than was accepted: its price."""

    price: Json


@dataclass(eq=False)
class ViewerJob:
    """Piece of work that a reader asked for."""

    kind: str
    work: Work
    item: Any
    content: str = ""
    """Digest of all that the result depends on; empty where it is not cached."""
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: JobState = "waiting"
    done: int = 0
    total: int = 0
    result: Json | None = None
    price: Json | None = None
    sentence: str = ""
    """Reason why there is no result."""
    process: LimitedProcess | None = None

    def to_json(self) -> Json:
        """Return what the page shows."""
        names = ("id", "kind", "state", "done", "total", "result", "price", "sentence")
        return {name: getattr(self, name) for name in names}


class JobQueue:
    """Jobs in the order in which they were asked for."""

    def __init__(self, limits: ProcessLimits = LIMITS) -> None:
        self._limits = limits
        self._waiting: SimpleQueue[ViewerJob | None] = SimpleQueue()
        self._changing = threading.Lock()
        self._jobs: OrderedDict[str, ViewerJob] = OrderedDict()
        self._known: OrderedDict[str, Json] = OrderedDict()
        self._thread: threading.Thread | None = None

    def start(self, kind: str, work: Work, item: Any, content: str = "") -> ViewerJob:
        """Take a job, or answer it from the cache."""
        job = ViewerJob(kind, work, item, content)
        with self._changing:
            if sum(other.state == "waiting" for other in self._jobs.values()) >= _MOST_WAITING:
                raise BadParameter(f"{_MOST_WAITING} jobs are waiting already: cancel some, or wait for them.")
            self._jobs[job.id] = job
            self._forget()
            if content in self._known:
                job.state, job.result = "done", self._known[content]
                return job
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="stratagem-jobs", daemon=True)
                self._thread.start()
        self._waiting.put(job)
        return job

    def find(self, name: str) -> ViewerJob:
        """Return the job of this id."""
        job = self._jobs.get(name)
        if job is None:
            raise UnknownName("job", name, ())
        return job

    def open(self) -> list[ViewerJob]:
        """Return the jobs that have not ended."""
        return [job for job in list(self._jobs.values()) if job.state not in ENDED]

    def cancel(self, name: str) -> ViewerJob:
        """Cancel a job; its process is killed."""
        job = self.find(name)
        with self._changing:
            if job.state not in ENDED:
                job.state, job.sentence = "cancelled", "It was cancelled."
            process = job.process
        if process is not None:
            process.kill()
        return job

    def close(self) -> None:
        """Cancel all jobs, and take no more."""
        for job in self.open():
            self.cancel(job.id)
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    def _forget(self) -> None:
        """Forget the oldest jobs that have ended."""
        for job in list(self._jobs.values())[: max(0, len(self._jobs) - _MOST_KEPT)]:
            if job.state in ENDED:
                del self._jobs[job.id]

    def _run(self) -> None:
        while (job := self._waiting.get()) is not None:
            if self._begin(job):
                self._follow(job)

    def _begin(self, job: ViewerJob) -> bool:
        """Start the process of a job; False if it was cancelled, or there is none."""
        with self._changing:
            if job.state != "waiting":
                return False
            try:
                job.process = LimitedProcess(job.work, job.item, self._limits)
            except OSError as error:
                job.state, job.sentence = "failed", f"No process can be started for it: {error.strerror}."
                return False
            job.state = "running"
        return True

    def _follow(self, job: ViewerJob) -> None:
        """Wait for the result of a job."""
        assert job.process is not None
        try:
            for message in job.process.messages():
                if isinstance(message, Progress):
                    job.done, job.total = message
                elif isinstance(message, JobPrice):
                    self._end(job, "priced", price=message.price)
                else:
                    self._end(job, "done", result=message)
        except WorkEnded as error:
            self._end(job, "failed", sentence=sentence_of(error))
        job.process = None

    def _end(self, job: ViewerJob, state: JobState, **changes: Any) -> None:
        with self._changing:
            if job.state != "running":
                return
            for name, value in changes.items():
                setattr(job, name, value)
            if state == "done" and job.content and job.result is not None:
                self._known[job.content] = job.result
                while len(self._known) > _MOST_KEPT:
                    self._known.popitem(last=False)
            job.state = state
