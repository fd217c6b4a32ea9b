"""Diplomacy as a game: its parameters, its rules in words, and a seat's situation in words."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat
from stratagem.games.choices import Choices
from stratagem.games.counting import count_in_words
from stratagem.games.diplomacy.board import WAIVE, Board
from stratagem.games.diplomacy.engine import module, powers_of, win_of
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.graph import Node, graph_of
from stratagem.games.diplomacy.state import DiplomacyState
from stratagem.games.diplomacy.table import DiplomacyTable
from stratagem.games.spec import GameSpec


@lru_cache(maxsize=8)
def orders_of(board: str) -> tuple[str, ...]:
    """Return all orders of a map, sorted, after the empty text, which leaves a slot of a sheet empty."""
    lines = _Lines(board)
    return "", *sorted({WAIVE, *lines.alone(), *lines.supports(), *lines.convoys(), *lines.builds()})


class _Lines:
    """Orders by kind, as the engine writes them."""

    def __init__(self, board: str) -> None:
        self._map: Any = module().Game(map_name=board).map
        self._units = frozenset(graph_of(board).nodes)
        self._by_sea: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        """Provinces between which an army can be convoyed, and the places of the fleets."""
        for paths in self._map.convoy_paths.values():
            for start, fleets, ends in paths:
                for end in ends:
                    self._by_sea[start][end] |= set(fleets)

    def alone(self) -> Iterator[str]:
        """Yield the orders that concern one unit."""
        for unit in self._units:
            yield f"{unit} H"
            yield f"{unit} D"
            for place in self._places(unit):
                if self._map.abuts(unit[0], unit[2:], "-", place):
                    yield f"{unit} - {place}"
                    yield f"{unit} R {place}"

    def supports(self) -> Iterator[str]:
        """Yield the supports of a stay and of a move."""
        for unit in self._units:
            for place in self._places(unit):
                if self._map.abuts(unit[0], unit[2:], "S", place):
                    yield from (f"{unit} S {kind} {place}" for kind in "AF" if f"{kind} {place}" in self._units)
                    for other in self._comers(place):
                        if other[2:5] != unit[2:5]:
                            yield f"{unit} S {other} - {place}"
                            yield f"{unit} S {other} - {place[:3]}"

    def convoys(self) -> Iterator[str]:
        """Yield the moves over sea and the orders of the fleets that carry them."""
        for start, ends in self._by_sea.items():
            for end, fleets in ends.items():
                yield f"A {start} - {end} VIA"
                yield from (f"F {fleet} C A {start} - {end}" for fleet in fleets)

    def builds(self) -> Iterator[str]:
        """Yield the builds."""
        for center in self._map.scs:
            for place in self._map.find_coasts(center):
                yield from (f"{kind} {place} B" for kind in "AF" if f"{kind} {place}" in self._units)

    def _places(self, unit: Node) -> list[str]:
        """Return the places next to a unit, with their coasts."""
        return list(self._map.dest_with_coasts[unit[2:]])

    def _comers(self, place: str) -> Iterator[Node]:
        """Yield the units that can move to a place, by land or by sea."""
        near = {
            coast for site in self._map.abut_list(place, incl_no_coast=True) for coast in self._map.find_coasts(site)
        }
        for kind in "AF":
            for site in near:
                if f"{kind} {site}" in self._units and self._map.abuts(kind, site, "-", place):
                    yield f"{kind} {site}"
        yield from (f"A {start}" for start in self._by_sea.get(place, ()))


_SEASONS = {"S": "Spring", "F": "Fall", "W": "Winter"}
_KINDS = {"M": "movement", "R": "retreats", "A": "adjustments"}


@dataclass(frozen=True, kw_only=True)
class Diplomacy(DiplomacyTable):
    """Seven powers, or some of them with the others in civil disorder, until a solo or the last year's count.

    A support that names another coast than the fleet's move is void (DATC 6.B.9). The package `diplomacy` counts it if
    a fleet gives it, unless it is told to read orders as they are; `coasts="package"` is that rule, for saved games of
    others.
    """

    state = DiplomacyState

    @cached_property
    def spec(self) -> GameSpec:
        powers = count_in_words(len(self.powers), "power")
        return GameSpec(
            name="diplomacy",
            family="diplomacy",
            summary=f"Diplomacy: {powers} order their units at the same time, until a solo or a year.",
            reference="Calhamer 1959; engine: diplomacy 1.1.2; scored by the sum of squares",
            seats=len(self.powers),
            seat_names=self.powers,
            simultaneous=True,
            utility="constant-sum",
            rounds=1,
            bounds=(0.0, 1.0),
            chance=False,
            private_information=False,
            symmetric=False,
            on_illegal="default",
            unit="share of the sum of squared centres",
            signals=("centers", "alive", "solo"),
        )

    def choices(self, facts: DiplomacyFacts) -> Choices:
        sheet = facts.board.sheet(facts.power)
        if sheet is None:
            raise BadParameter(f"{facts.power} has nothing to order in {facts.board.phase}.")
        return sheet

    def all_actions(self) -> tuple[str, ...]:
        return orders_of(self.map)

    def default_action(self, facts: DiplomacyFacts) -> str:
        """Return the default orders: units hold, dislodged ones disband, nothing is built.

        Removals go in alphabetical order.
        """
        sheet = facts.board.sheet(facts.power)
        assert sheet is not None
        wanted = {"M": " H", "R": " D"}.get(facts.board.kind, WAIVE)
        lines = [
            next((option for option in slot.options if option.endswith(wanted)), slot.options[0])
            for slot in sheet.slots
        ]
        action = sheet.canonical(lines[: sheet.fill])
        assert action is not None
        return action

    def state_key(self, facts: DiplomacyFacts) -> str:
        return f"{facts.power} {facts.board.position}"

    def info_key(self, facts: DiplomacyFacts) -> str:
        """Return the digest of all orders so far; written out it would be most of a record."""
        digest = hashlib.sha256(repr(facts.log).encode()).hexdigest()[:24]
        return f"{facts.power} {facts.board.phase} {digest}"

    def vocabulary(self) -> tuple[str, ...]:
        """Return the powers, provinces, coasts, units and orders, and the words that name the game or the old names."""
        places = {part for node in graph_of(self.map).nodes for part in node[2:].split("/")}
        orders = ("A", "F", "H", "S", "C", "R", "B", "D", "VIA", WAIVE)
        told = ("diplomacy", "army", "fleet", "three letters", *_SEASONS.values())
        return (*powers_of(self.map), *sorted(places), *orders, *told)

    def rules(self, seat: Seat) -> str:
        sitting = f"The powers at the table are {', '.join(self.powers)}."
        absent = [power for power in powers_of(self.map) if power not in self.powers]
        others = f" {', '.join(absent)} are in civil disorder: their units hold." if absent else ""
        return (
            f"Diplomacy. {sitting}{others}\n"
            "Each power has armies (A) and fleets (F) in provinces named by three letters. All powers write the orders "
            "for a phase at the same time. A unit holds (A PAR H), moves to a province next to it (A PAR - BUR), "
            "supports another unit's stay (A PAR S A BUR) or move (A PAR S A MAR - BUR), or, as a fleet at sea, "
            "convoys an army (F ENG C A BRE - LON), which says VIA if it means to be carried.\n"
            "Every unit has strength 1, and 1 more for each support. The strongest alone enters a province, and "
            "dislodges who is in it; equals bounce. A support is cut where its unit is attacked from elsewhere.\n"
            "A dislodged unit retreats (A PAR R GAS) or disbands (A PAR D).\n"
            "After each Fall a power owns the supply centres in which its units stand, and those that nobody took from "
            "it. In Winter it builds in its free home centres (A PAR B) or waives a build (WAIVE), or must disband, "
            "until it has as many units as centres.\n"
            f"{win_of(self.map)} centres win alone. Otherwise the game ends with the count of Fall {self.until}, and "
            "each power is paid its centres squared over the sum of all squares."
        )

    def situation(self, facts: DiplomacyFacts) -> str:
        board = facts.board
        season = f"{_SEASONS[board.phase[0]]} {board.year}, {_KINDS[board.kind]}" if not board.over else "The end"
        lines = [f"{season}.", *(_standing(board, power) for power in board.powers)]
        free = sorted(place for place in self.centers if place not in board.owners)
        lines += [f"Centres of nobody: {' '.join(free)}."] if free else []
        return "\n".join([*lines, f"You are {facts.power}."])


def _standing(board: Board, power: str) -> str:
    """Describe a power in one line."""
    units = ", ".join(board.units(power)) or "no units"
    lost = "".join(
        f"; {unit} is dislodged and may go to {' '.join(places) or 'no place'}"
        for unit, places in board.units_to_retreat(power).items()
    )
    return f"{power}: {units}{lost}; centres {' '.join(board.centers(power)) or 'none'}."
