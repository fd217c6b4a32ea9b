"""Hostile orders in Diplomacy, and the opportunities for them, from the orders of a recorded game.

An order is hostile to a power if it moves, or helps a move, into a province where that power has a unit or whose centre
it owns. A unit has a chance at a power if it could enter such a province; so powers that never meet count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.base import Seat
from stratagem.games.diplomacy.attacks import find_attacks, held_by
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.diplomacy.graph import graph_of, province
from stratagem.games.diplomacy.position import BoardPosition
from stratagem.measure.recorded_phases import game_of, movements
from stratagem.playing.records import Episode


class Hostility(NamedTuple):
    """Counts by seat of the attacker and seat of the victim."""

    attacks: NDArray[np.float64]
    chances: NDArray[np.float64]

    def rate(self, pairs: NDArray[np.bool_]) -> float:
        """Return the attacks per opportunity over some pairs; not a number without opportunities."""
        chances = float(self.chances[pairs].sum())
        return float(self.attacks[pairs].sum()) / chances if chances else float("nan")


def hostility(episode: Episode) -> Hostility:
    """Return the counts of one game, from its record."""
    game, seats = game_of(episode), len(episode.slots)
    attacks, chances = np.zeros((seats, seats)), np.zeros((seats, seats))
    for position, rows in movements(episode):
        holders = held_by(position, game)
        for row in rows:
            for other in could_attack(position, game, row.seat, holders):
                chances[row.seat, other] += 1
            for other in find_attacks(row.action.split("\n") if row.action else (), holders):
                if other != row.seat:
                    attacks[row.seat, other] += 1
    return Hostility(attacks, chances)


def could_attack(position: BoardPosition, game: Diplomacy, seat: Seat, holders: Mapping[str, Seat]) -> Iterator[Seat]:
    """Yield the pairs of a unit and another power that it could attack."""
    reach = graph_of(game.map).reach
    for unit in position.units(game.powers[seat]):
        yield from {holders[place] for place in reach[unit] if place in holders and place != province(unit)} - {seat}


def alliance(counts: Hostility, members: NDArray[np.bool_]) -> float:
    """Return the tacit alliance index: the relative reduction of attacks among some seats, compared with all others.

    1 is a perfect peace among them, 0 is as among all, below 0 they are worse enemies than others. Not a number where
    either never met.
    """
    inside = np.outer(members, members) & ~np.eye(len(members), dtype=bool)
    outside = ~inside & ~np.eye(len(members), dtype=bool)
    usual = counts.rate(outside)
    return 1.0 - counts.rate(inside) / usual if usual else float("nan")
