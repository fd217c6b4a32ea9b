"""Knowledge of a power at the table: the board, and everything that was ordered on the way to it."""

from __future__ import annotations

from typing import NamedTuple

from stratagem.games.base import Seat
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.log import Log


class DiplomacyFacts(NamedTuple):
    """Knowledge of a seat: everything but the orders that the others are about to give."""

    seat: Seat
    power: str
    board: Board
    log: Log
