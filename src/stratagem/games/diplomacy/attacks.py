"""Attacks by orders: moves, and supports of moves, into a province that another power holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from stratagem.games.base import Seat
from stratagem.games.diplomacy.position import BoardPosition
from stratagem.games.diplomacy.results import read_order
from stratagem.games.diplomacy.table import DiplomacyTable

H = TypeVar("H")
"""Holder of a province: a seat, or a power by name."""


def held_by(position: BoardPosition, game: DiplomacyTable) -> dict[str, Seat]:
    """By province the seat that has a unit there, or owns its centre where there is none."""
    seats = {power: seat for seat, power in enumerate(game.powers)}
    holders = {place: seats[power] for place, power in position.owners.items() if power in seats}
    return holders | {place: seats[power] for place, (power, _) in position.occupants.items() if power in seats}


def find_attacks(lines: Iterable[str], holders: Mapping[str, H]) -> Iterator[H]:
    """Yield the victims of each order, or of the attack that it supports.

    Support for a power into its own place attacks nobody.
    """
    for order in map(read_order, lines):
        helps = order.verb == "S" and order.to_move
        attacks = order.verb == "-" or (helps and holders.get(order.helped) != holders.get(order.target))
        if attacks and order.target in holders:
            yield holders[order.target]
