"""Question to one player outside of a table; what it asks of engines is answered at once."""

from __future__ import annotations

from stratagem.play.awaited import answered_here
from stratagem.players.base import Move, Turn


def answered(turn: Turn) -> Move:
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
