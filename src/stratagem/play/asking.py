"""Question to one player outside of a table, answered at once; what it asks of engines is asked alone."""

from __future__ import annotations

from stratagem.engines.base import Call
from stratagem.play.dispatch import Dispatcher
from stratagem.players.base import Move, Turn


def answered(turn: Turn) -> Move:
    """Return the move of a turn; its requests go to their engines one after another."""
    if isinstance(turn, Move):
        return turn
    queue, call = Dispatcher(), None
    while True:
        try:
            request = next(turn) if call is None else turn.send(call)
        except StopIteration as stop:
            move: Move = stop.value
            return move
        queue.submit([request])
        call = _only(queue)


def _only(queue: Dispatcher) -> Call:
    ((_, call),) = queue.poll()
    return call
