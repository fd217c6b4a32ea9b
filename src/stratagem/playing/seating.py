"""Seatings that rotate over paired deals, so that every player gets every card at every seat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stratagem.games.key import Key
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Purpose


def rotate_seats(
    match: Match, episodes: int, key: Key, *, name: str, deals: str = "", paired: bool = True, purpose: Purpose = "eval"
) -> Iterator[Setup]:
    """Yield `episodes` setups (rounded up to whole rotations) whose seats rotate from one to the next.

    Paired, a rotation replays one deal: the game's draws and the players' dice are the same, the seats are not. `deals`
    names what other matches with the same key share; without it the deals are those of `name` alone.
    """
    seats = len(match.players)
    for deal in range(-(-episodes // seats)):
        for turn in range(seats):
            setup = seat_deal(match, deal, turn, key, name=name, paired=paired, purpose=purpose)
            yield replace(setup, group=f"{deals}/{deal}") if deals else setup


def seat_deal(
    match: Match, deal: int, turn: int, key: Key, *, name: str, paired: bool = True, purpose: Purpose = "eval"
) -> Setup:
    """Return the setup of one deal after so many turns of the seats."""
    seats = len(match.players)
    return Setup(
        id=f"{name}/{deal}.{turn}",
        match=match,
        slots=tuple((seat - turn) % seats for seat in range(seats)),
        key=key.at("deal", deal) if paired else key.at("deal", deal, turn),
        purpose=purpose,
        group=f"{name}/{deal}",
    )
