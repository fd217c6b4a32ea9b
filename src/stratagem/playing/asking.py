"""Play outside of the scheduler: one table whose requests a coroutine answers, and a question to one player.

What a table does follows from its setup and the answers alone, so an episode equals that of `scheduler.play`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from stratagem.language.engines.base import Call, Request
from stratagem.players.base import Move, Turn
from stratagem.playing.dispatch import Dispatcher
from stratagem.playing.match import Setup
from stratagem.playing.records import Episode
from stratagem.playing.table import Table

Answers = Callable[[Sequence[Request]], Awaitable[Sequence[Call]]]
"""Coroutine function from the requests that one table has open to their answers, in order."""


async def play_awaited(setup: Setup, answers: Answers) -> Episode:
    """Play one setup; `answers` gets the requests of all seats that wait at the same time."""
    table = Table(setup, detail=True)
    while not table.advance():
        opened = table.new_requests()
        calls = await answers([request for _, request in opened])
        for (seat, _), call in zip(opened, calls, strict=True):
            table.answer(seat, call)
    return table.episode


def answered_here(request: Request) -> Call:
    """Answer a request by the engine that it names; the caller waits."""
    queue = Dispatcher()
    queue.submit([request])
    ((_, call),) = queue.poll()
    return call


def answer_turn(turn: Turn) -> Move:
    """Return the move of a turn; its requests go to their engines one after another."""
    if isinstance(turn, Move):
        return turn
    call = None
    while True:
        try:
            request = next(turn) if call is None else turn.send(call)
        except StopIteration as stop:
            move: Move = stop.value
            return move
        call = answered_here(request)
