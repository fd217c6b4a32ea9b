"""Dispatch of requests: each goes to the engine that it names, and its answer comes back as soon as it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol

from stratagem.language.engines.base import Call, Engine, PolicyId, Prompt, Request, RequestAnswer
from stratagem.language.engines.outcomes import count_outcomes

_PAUSE = 0.002
"""Seconds between two looks at several engines that all wait for something elsewhere."""


class RequestQueue(Protocol):
    """Open requests of tables, answered in any order."""

    def submit(self, requests: Sequence[Any]) -> list[int]:
        """Take requests, and return a ticket for each."""
        ...

    def poll(self) -> list[RequestAnswer]:
        """Return some answers to open requests, in any order; at least one if any request is open."""
        ...

    def cancel(self) -> None:
        """Forget all open requests; called once at the end, too."""
        ...


class _Open(NamedTuple):
    """Open request: its engine and the engine's ticket."""

    engine: Engine
    ticket: int


class Dispatcher:
    """Requests by the engines that they name."""

    def __init__(self) -> None:
        self._tickets = count()
        self._open: dict[int, _Open] = {}
        self._refused: list[RequestAnswer] = []

    def submit(self, requests: Sequence[Any]) -> list[int]:
        tickets = [next(self._tickets) for _ in requests]
        engines: dict[Engine, dict[int, Request]] = {}
        for ticket, request in zip(tickets, requests, strict=True):
            if isinstance(request, Request):
                engines.setdefault(request.engine, {})[ticket] = request
            else:
                self._refused.append(RequestAnswer(ticket, _no_request(request)))
        for engine, some in engines.items():
            for own, ticket in zip(some, engine.submit(list(some.values())), strict=True):
                self._open[own] = _Open(engine, ticket)
        return tickets

    def poll(self, *, wait: bool = True) -> list[RequestAnswer]:
        """Return some answers; without `wait` perhaps none, where engines wait for something elsewhere."""
        refused, self._refused = self._refused, []
        while not (answered := refused) and self._open:
            engines = self._by_engine()
            for engine, tickets in engines.items():
                ready = engine.poll(list(tickets), wait=wait and len(engines) == 1)
                answered = [*answered, *(RequestAnswer(tickets[ticket], call) for ticket, call in ready)]
            if answered or not wait:
                break
            if len(engines) == 1:
                raise RuntimeError(f"The engine {next(iter(engines)).name} lost {len(self._open)} open requests.")
            time.sleep(_PAUSE)
        for ticket, _ in answered:
            self._open.pop(ticket, None)
        count_outcomes(call for _, call in answered)
        return answered

    def cancel(self) -> None:
        self.forget(self._open.keys())
        self._refused.clear()

    def forget(self, tickets: Collection[int]) -> None:
        """Forget some open requests."""
        for engine, own in self._by_engine().items():
            engine.cancel([ticket for ticket, ours in own.items() if ours in tickets])
        self._open = {ticket: opened for ticket, opened in self._open.items() if ticket not in tickets}

    def _by_engine(self) -> dict[Engine, dict[int, int]]:
        """Return the dispatcher's tickets by engine and its tickets."""
        engines: dict[Engine, dict[int, int]] = {}
        for own, (engine, ticket) in self._open.items():
            engines.setdefault(engine, {})[ticket] = own
        return engines


class BatchQueue:
    """Requests that a function answers all together."""

    def __init__(self, answer: Callable[[Sequence[Any]], Sequence[Call]]) -> None:
        self._answer = answer
        self._tickets = count()
        self._open: dict[int, Any] = {}

    def submit(self, requests: Sequence[Any]) -> list[int]:
        tickets = [next(self._tickets) for _ in requests]
        self._open.update(zip(tickets, requests, strict=True))
        return tickets

    def poll(self) -> list[RequestAnswer]:
        requests, self._open = self._open, {}
        calls = self._answer(list(requests.values())) if requests else []
        if len(calls) != len(requests):
            raise ValueError(f"{len(requests)} requests were answered with {len(calls)} completions")
        return [RequestAnswer(ticket, call) for ticket, call in zip(requests, calls, strict=True)]

    def cancel(self) -> None:
        self._open = {}


def _no_request(value: object) -> Call:
    """Answer something that is no request with a call that says so."""
    text = f"A player yielded a {type(value).__name__} where a Request was due."
    return Call(policy=PolicyId(""), prompt=Prompt(()), text=text, finish="error")
