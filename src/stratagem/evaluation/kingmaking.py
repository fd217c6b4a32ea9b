"""Kingmakers: seats without whose last orders another power would not have won Diplomacy alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stratagem.games.base import Seat
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.games.talk import moving
from stratagem.play.forks import steps
from stratagem.play.records import Episode

Sheets = Mapping[Seat, str | None]


def kingmakers(episode: Episode) -> tuple[Seat, ...]:
    """Return the losers who could have prevented the solo by holding in the last movement phase.

    None without a solo.
    """
    last: DiplomacyState | None = None
    played: list[Sheets] = []
    winner: Seat | None = None
    for before, rows in steps(episode):
        if (state := moving(before)) is None:
            continue
        assert isinstance(state, DiplomacyState)
        winner = state.winner()
        orders = {row.seat: row.action for row in rows}
        if rows and state.board.kind == "M":
            last, played = state, [orders]
        elif rows:
            played.append(orders)
    return () if winner is None or last is None else decisive(last, played, winner)


def decisive(state: DiplomacyState, played: Sequence[Sheets], winner: Seat) -> tuple[Seat, ...]:
    """Return the other seats that could have prevented the solo by holding in this movement phase.

    `played` are its orders and those of the phases that follow, which are given again as far as they still can be.
    """
    orders, *after = played
    if _won(state, orders, after) != winner:
        return ()
    others = [seat for seat in orders if seat != winner]
    return tuple(seat for seat in others if _won(state, {**orders, seat: None}, after) != winner)


def _won(state: DiplomacyState, orders: Sheets, after: Sequence[Sheets]) -> Seat | None:
    """Return the winner after these orders and the retreats that follow; new retreats disband."""
    here, later = state.fork(), iter(after)
    here.play(orders)
    while not here.over and here.board.kind == "R":
        orders_there = next(later, {})
        here.play({seat: _still(here, seat, orders_there.get(seat)) for seat in here.to_act})
    return here.winner()


def _still(state: DiplomacyState, seat: Seat, sheet: str | None) -> str | None:
    """Return the same orders, as far as they are possible here."""
    return sheet if sheet is not None and sheet in state.view(seat).choices else None
