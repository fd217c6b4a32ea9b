"""Who made a king: seats without whose last orders another power would not have won Diplomacy alone."""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.games.base import Seat
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.play.forks import steps
from stratagem.play.records import Episode


def kingmakers(episode: Episode) -> tuple[Seat, ...]:
    """The losers who would have kept the winner from a solo by holding in the last movement phase; none without one."""
    last: tuple[DiplomacyState, dict[Seat, str | None]] | None = None
    winner: Seat | None = None
    for state, rows in steps(episode):
        assert isinstance(state, DiplomacyState)
        winner = state.winner()
        if rows and state.board.kind == "M":
            last = state, {row.seat: row.action for row in rows}
    return () if winner is None or last is None else decisive(*last, winner)


def decisive(state: DiplomacyState, orders: Mapping[Seat, str | None], winner: Seat) -> tuple[Seat, ...]:
    """Who of the others would have kept the winner from the solo by holding in this movement phase.

    What comes after it in the same season is played by rule: the dislodged disband.
    """
    return tuple(seat for seat in orders if seat != winner and _won(state, {**orders, seat: None}) != winner)


def _won(state: DiplomacyState, orders: Mapping[Seat, str | None]) -> Seat | None:
    """Who has won after these orders and the retreats that follow."""
    here = state.fork()
    here.play(orders)
    while not here.over and here.board.kind == "R":
        here.play(dict.fromkeys(here.to_act))
    return here.winner()
