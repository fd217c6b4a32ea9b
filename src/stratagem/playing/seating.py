"""Seatings that rotate over paired deals, so that every player gets every card at every seat."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

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
        group, dealt = f"{deals or name}/{deal}", key.at("deal", deal)
        for turn in range(seats):
            own = dealt if paired else dealt.at(turn)
            yield Setup(
                id=f"{name}/{deal}.{turn}", match=match, slots=_turn_seats(seats, turn), key=own, purpose=purpose,
                group=group,
            )  # fmt: skip


def seat_deal(match: Match, deal: int, turn: int, key: Key, *, name: str) -> Setup:
    """Return the setup of one paired deal after so many turns of the seats."""
    slots, group = _turn_seats(len(match.players), turn), f"{name}/{deal}"
    return Setup(id=f"{group}.{turn}", match=match, slots=slots, key=key.at("deal", deal), group=group)


@lru_cache(maxsize=1024)
def _turn_seats(seats: int, turn: int) -> tuple[int, ...]:
    """Return the slot at each seat after so many turns."""
    return tuple((seat - turn) % seats for seat in range(seats))
