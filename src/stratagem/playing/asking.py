"""Question to one player outside of a table; what it asks of engines is answered at once."""

from __future__ import annotations

from stratagem.players.base import Move, Turn
from stratagem.playing.awaited import answered_here


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
