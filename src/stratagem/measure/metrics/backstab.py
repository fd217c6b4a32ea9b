"""Metric of Diplomacy: attacks on recent partners."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stratagem.games.base import Seat
from stratagem.games.diplomacy.attacks import find_attacks, held_by
from stratagem.games.diplomacy.game import Diplomacy
from stratagem.games.diplomacy.position import BoardPosition
from stratagem.games.diplomacy.results import Order, read_order
from stratagem.measure.hostility import could_attack
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.metrics.standing import ends
from stratagem.measure.rates import rate
from stratagem.measure.recorded_phases import game_of, movements
from stratagem.measure.statistics import Estimate
from stratagem.playing.records import Decision, Episode

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
        victims = [other for other in find_attacks(lines, holders) if other != seat]
        counts = counts.plus(victims, list(could_attack(position, game, seat, holders)), partners)
        past.append(set(supports(position, rows, game)))
    return counts


def supports(position: BoardPosition, rows: Sequence[Decision], game: Diplomacy) -> Iterator[Pair]:
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


class Backstab(Metric):
    """Attacks on partners over all attacks: sum_t A_t(partners) / sum_t A_t(all).

    A partner supported a unit of the agent, or was supported by it, in one of the four movement phases before (two
    years), and the supported unit did what it was supported in. An attack is an order that moves, or supports a
    move, into a province where another power has a unit or whose centre it owns. A dash where the agent attacks
    nobody.
    """

    name = "backstab"
    better = "neither"
    digits = 2
    unit = "share of attacks"
    null_case = (
        "the share of partners among all whom its units could have attacked, which attacks blind to supports have"
    )

    def measure(self, sample: Sample) -> Estimate | None:
        rows = [row for row in _counts(sample) if row[1].attacks]
        if not rows:
            return None
        return rate(rows, lambda row: row[1].on_partners, lambda row: row[1].attacks, lambda row: row[0].group)

    def null(self, sample: Sample) -> float | None:
        counts = [row[1] for row in _counts(sample)]
        chances = sum(row.chances for row in counts)
        return sum(row.at_partners for row in counts) / chances if chances else None


def _counts(sample: Sample) -> list[tuple[Episode, Attacks]]:
    if not isinstance(sample.moves, Diplomacy):
        return []
    episodes = [episode for episode in ends(sample) if episode.decisions]
    return [(episode, attacks_on_partners(episode, episode.seat_of(0))) for episode in episodes]
