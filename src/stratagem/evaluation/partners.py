"""Attacks on partners in Diplomacy: powers that were supported a short time before.

Two powers are partners in a movement phase if one of them supported a unit of the other in one of the `WINDOW` movement
phases before, and that unit did what it was supported in. `hostility` defines an attack and an opportunity of one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stratagem.evaluation.hostility import could_attack
from stratagem.evaluation.recorded_phases import game_of, movements
from stratagem.games.base import Seat
from stratagem.games.diplomacy.attacks import attacked, held_by
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.diplomacy.position import Position
from stratagem.games.diplomacy.results import Order, read_order
from stratagem.play.records import Decision, Episode

WINDOW = 4
"""Movement phases, that is two years."""
Pair = frozenset[Seat]


class Attacks(NamedTuple):
    """Counts of one seat over a game."""

    attacks: int
    on_partners: int
    chances: int
    at_partners: int

    def plus(self, victims: Sequence[Seat], targets: Sequence[Seat], partners: set[Seat]) -> Attacks:
        """Add a phase's victims, and the powers whom its units could have attacked."""
        return Attacks(
            self.attacks + len(victims),
            self.on_partners + sum(seat in partners for seat in victims),
            self.chances + len(targets),
            self.at_partners + sum(seat in partners for seat in targets),
        )


def attacks_on_partners(episode: Episode, seat: Seat) -> Attacks:
    """Count a seat's attacks and those on partners, from a game's record."""
    game, counts, past = game_of(episode), Attacks(0, 0, 0, 0), deque[set[Pair]](maxlen=WINDOW)
    for position, rows in movements(episode):
        partners = {other for pairs in past for pair in pairs if seat in pair for other in pair - {seat}}
        holders = held_by(position, game)
        lines = [line for row in rows if row.seat == seat and row.action for line in row.action.split("\n")]
        victims = [other for other in attacked(lines, holders) if other != seat]
        counts = counts.plus(victims, list(could_attack(position, game, seat, holders)), partners)
        past.append(set(supports(position, rows, game)))
    return counts


def supports(position: Position, rows: Sequence[Decision], game: Diplomacy) -> Iterator[Pair]:
    """Pairs of seats of which one supported a unit of the other that did what it was supported in."""
    orders = [(row.seat, read_order(line)) for row in rows if row.action for line in row.action.split("\n")]
    moves = {order.unit[2:5]: order.target for _, order in orders if order.verb == "-"}
    seats = {power: seat for seat, power in enumerate(game.powers)}
    for seat, order in orders:
        owner = position.occupants.get(order.helped, ("", ""))[0]
        if order.verb == "S" and owner in seats and seats[owner] != seat and _matches(order, moves.get(order.helped)):
            yield frozenset({seat, seats[owner]})


def _matches(support: Order, destination: str | None) -> bool:
    """Return whether a unit that moves there, or stays, does what it is supported in."""
    return destination == support.target if support.to_move else destination is None
