"""Who attacks whom in Diplomacy, and how often each could have: counted from the orders of a recorded game.

An order is hostile to a power if it moves, or helps a move, into a province where that power has a unit or whose centre
it owns. A unit has a chance at a power if it could enter such a province; so powers that never meet count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.evaluation.recorded_phases import game_of, movements
from stratagem.games.base import Seat
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.diplomacy.graph import graph_of, province
from stratagem.games.diplomacy.position import Position
from stratagem.games.diplomacy.results import read_order
from stratagem.play.records import Episode


class Hostility(NamedTuple):
    """Counts by seat of the one who orders and seat of the other."""

    attacks: NDArray[np.float64]
    chances: NDArray[np.float64]

    def rate(self, pairs: NDArray[np.bool_]) -> float:
        """Attacks a chance over some pairs; not a number where nobody had a chance."""
        chances = float(self.chances[pairs].sum())
        return float(self.attacks[pairs].sum()) / chances if chances else float("nan")


def hostility(episode: Episode) -> Hostility:
    """The counts of one game, from its record."""
    game, seats = game_of(episode), len(episode.slots)
    attacks, chances = np.zeros((seats, seats)), np.zeros((seats, seats))
    for position, rows in movements(episode):
        held = held_by(position, game)
        for row in rows:
            for other in could_attack(position, game, row.seat, held):
                chances[row.seat, other] += 1
            for other in attacked(row.action.split("\n") if row.action else (), held):
                if other != row.seat:
                    attacks[row.seat, other] += 1
    return Hostility(attacks, chances)


def held_by(position: Position, game: Diplomacy) -> dict[str, Seat]:
    """By province the seat that has a unit there, or owns its centre where there is none."""
    seats = {power: seat for seat, power in enumerate(game.powers)}
    held = {place: seats[power] for place, power in position.owners.items() if power in seats}
    return held | {place: seats[power] for place, (power, _) in position.occupants.items() if power in seats}


def could_attack(position: Position, game: Diplomacy, seat: Seat, held: Mapping[str, Seat]) -> Iterator[Seat]:
    """Once for each unit and each other power that it could attack."""
    reach = graph_of(game.map).reach
    for unit in position.units(game.powers[seat]):
        yield from {held[place] for place in reach[unit] if place in held and place != province(unit)} - {seat}


def attacked(lines: Iterable[str], held: Mapping[str, Seat]) -> Iterator[Seat]:
    """Whom each line attacks, or helps somebody else to attack: who helps a power into its own place attacks nobody."""
    for order in map(read_order, lines):
        helps = order.verb == "S" and order.to_move
        attacks = order.verb == "-" or (helps and held.get(order.helped) != held.get(order.target))
        if attacks and order.target in held:
            yield held[order.target]


def alliance(counts: Hostility, members: NDArray[np.bool_]) -> float:
    """The tacit alliance index: by what share less some seats attack each other than all others do.

    1 is a perfect peace among them, 0 is as among all, below 0 they are worse enemies than others. Not a number where
    either never met.
    """
    inside = np.outer(members, members) & ~np.eye(len(members), dtype=bool)
    outside = ~inside & ~np.eye(len(members), dtype=bool)
    usual = counts.rate(outside)
    return 1.0 - counts.rate(inside) / usual if usual else float("nan")
