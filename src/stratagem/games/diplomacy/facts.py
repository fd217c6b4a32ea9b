"""Knowledge of a power at the table: the board, and everything that was ordered on the way to it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from stratagem.games.base import Seat
from stratagem.games.diplomacy.board import Board

Log = tuple[tuple[str, tuple[tuple[str, str, tuple[str, ...]], ...]], ...]
"""Orders and results phase by phase; the list of words is empty where the order succeeded."""


def is_log(log: Any, powers: Collection[str]) -> bool:
    """Return whether parsed JSON has the shape of a log."""
    try:
        rows = [(power, (line, *codes)) for _, lines in log for power, line, codes in lines]
        phases, powers_named = [phase for phase, _ in log], {power for power, _ in rows}
    except (TypeError, ValueError):
        return False
    words = [*phases, *(word for _, orders in rows for word in orders)]
    return isinstance(log, tuple) and powers_named <= {*powers} and all(type(w) is str for w in words)


class DiplomacyFacts(NamedTuple):
    """Knowledge of a seat: everything but the orders that the others are about to give."""

    seat: Seat
    power: str
    board: Board
    log: Log
