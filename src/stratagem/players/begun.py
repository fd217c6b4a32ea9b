"""Beginning of a generator of requests: one that asks no model is over at once, without a scheduler."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from stratagem.language.engines.base import Call, Request

T = TypeVar("T")


def begin_turn(turn: Generator[Request, Call, T]) -> T | Generator[Request, Call, T]:
    """Run a generator up to its first request; return its result if there is none, and otherwise the rest of it."""
    try:
        request = next(turn)
    except StopIteration as stop:
        result: T = stop.value
        return result
    return _continue_turn(turn, request)


def _continue_turn(turn: Generator[Request, Call, T], request: Request) -> Generator[Request, Call, T]:
    """Go on with a generator that has yielded a request."""
    while True:
        call = yield request
        try:
            request = turn.send(call)
        except StopIteration as stop:
            result: T = stop.value
            return result


__all__ = ["begin_turn"]
