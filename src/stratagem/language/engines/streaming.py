"""Bases of engines: one that works on open requests step by step, and one that answers a batch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from threading import RLock
from typing import Protocol

from stratagem.base.errors import StratagemError
from stratagem.language.engines.base import Call, Request, RequestAnswer


class Answering(Protocol):
    """Part of an engine that answers requests."""

    def submit(self, requests: Sequence[Request]) -> list[int]: ...

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[RequestAnswer]: ...

    def cancel(self, tickets: Collection[int]) -> None: ...


def answer_requests(engine: Answering, requests: Sequence[Request]) -> list[Call]:
    """Return an engine's answers to all of these requests, in order."""
    tickets = engine.submit(requests)
    calls: dict[int, Call] = {}
    try:
        while left := [ticket for ticket in tickets if ticket not in calls]:
            if not (some := engine.poll(left)):
                raise RuntimeError(f"{len(left)} open requests were lost.")
            calls.update(some)
    finally:
        engine.cancel([ticket for ticket in tickets if ticket not in calls])
    return [calls[ticket] for ticket in tickets]


class StreamingEngine(ABC):
    """Open requests by ticket, and finished replies that nobody has fetched yet.

    Threads may share an engine, as a program and the endpoint in it do: one of them works at a time, for all requests.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._tickets = count()
        self._waiting: dict[int, Request] = {}
        """Open requests that no work was begun on."""
        self._finished: dict[int, Call] = {}

    @abstractmethod
    def _work(self) -> Mapping[int, Call]:
        """Work on open requests until some are answered, and return these calls by ticket; none if none is open."""

    @abstractmethod
    def _abandon(self, tickets: Collection[int]) -> None:
        """Drop the work that was begun on any of these requests."""

    def submit(self, requests: Sequence[Request]) -> list[int]:
        """Take requests, and return a ticket for each."""
        with self._lock:
            tickets = [next(self._tickets) for _ in requests]
            self._waiting.update(zip(tickets, requests, strict=True))
        return tickets

    def poll(self, tickets: Collection[int], *, wait: bool = True) -> list[RequestAnswer]:
        """Return the calls of those of the open tickets that are answered, at least one; it works in this process."""
        with self._lock:
            while not (ready := [ticket for ticket in tickets if ticket in self._finished]):
                if not (calls := self._work()):
                    break
                self._finished.update(calls)
            return [RequestAnswer(ticket, self._finished.pop(ticket)) for ticket in ready]

    def cancel(self, tickets: Collection[int]) -> None:
        """Forget open requests."""
        with self._lock:
            for ticket in tickets:
                self._waiting.pop(ticket, None)
                self._finished.pop(ticket, None)
            if tickets:
                self._abandon(tickets)

    def answer(self, requests: Sequence[Request]) -> list[Call]:
        """Answer all of these requests, in order."""
        return answer_requests(self, requests)


class BatchEngine(StreamingEngine):
    """Engine that answers all open requests together; a subclass defines `answer`."""

    @abstractmethod
    def answer(self, requests: Sequence[Request]) -> list[Call]:
        """Answer each request, in order; a failure is a call whose finish is `error`."""

    def _abandon(self, tickets: Collection[int]) -> None:
        """Do nothing: work that is begun is ended in the same call."""

    def _work(self) -> Mapping[int, Call]:
        waiting, self._waiting = self._waiting, {}
        calls = (self.answer(list(waiting.values())) or []) if waiting else []
        if len(calls) != len(waiting):
            raise StratagemError(
                f"{type(self).__name__} answered {len(waiting)} requests with {len(calls)} calls: its `answer` returns "
                "one call for each request, in order."
            )
        return dict(zip(waiting, calls, strict=True))
