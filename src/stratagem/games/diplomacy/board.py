"""What stands on the board in a phase, and what may be ordered: all of it is seen by everybody, and never changes."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from stratagem.games.choices import Sheet, Slot
from stratagem.games.diplomacy.engine import COMPLETED, Engine, phase_of, position_of, possible_orders

WAIVE = "WAIVE"
_PHASES = ("SM", "SR", "FM", "FR", "WA")
"""A year's phases in order: season, and movement, retreats or adjustments; all maps of the engine have these."""


class Board:
    """A position, the orders that are possible in it, and the sheets on which powers write theirs."""

    def __init__(self, engine: Engine) -> None:
        self.position = position_of(engine)
        self.phase = phase_of(engine)
        """Such as S1901M: season, year, and M for movement, R for retreats, A for adjustments."""
        self._places = {power: tuple(places) for power, places in engine.get_orderable_locations().items()}
        self._orders = {} if self.over else possible_orders(engine)
        self._sheets: dict[str, Sheet | None] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and self.position == other.position

    def __hash__(self) -> int:
        return hash(self.position)

    def __repr__(self) -> str:
        return f"Board({self.position})"

    @property
    def over(self) -> bool:
        """Whether somebody has won."""
        return self.phase == COMPLETED

    @property
    def kind(self) -> str:
        """M for movement, R for retreats, A for adjustments."""
        return self.phase[-1]

    @property
    def year(self) -> int:
        """The year of the phase."""
        return int(self.phase[1:-1])

    @property
    def clock(self) -> int:
        """The phases that a calendar counts up to this one, those that fall out as well."""
        return self.year * len(_PHASES) + _PHASES.index(self.phase[0] + self.kind)

    @cached_property
    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self.position)
        return state

    @property
    def powers(self) -> tuple[str, ...]:
        """All powers of the map."""
        return tuple(self._state["units"])

    def units(self, power: str) -> tuple[str, ...]:
        """Where its units stand, such as A PAR."""
        return tuple(unit for unit in self._state["units"][power] if not unit.startswith("*"))

    def dislodged(self, power: str) -> dict[str, list[str]]:
        """Its units that must retreat, and where they may go."""
        retreats: dict[str, list[str]] = self._state["retreats"][power]
        return retreats

    def centers(self, power: str) -> tuple[str, ...]:
        """The supply centres that it owned at the last count."""
        return tuple(self._state["centers"][power])

    @cached_property
    def owners(self) -> dict[str, str]:
        """Who owns a centre; those of nobody are left out."""
        return {place: power for power, places in self._state["centers"].items() for place in places}

    @cached_property
    def occupants(self) -> dict[str, tuple[str, str]]:
        """Power and unit by province, coasts left out."""
        return {unit[2:5]: (power, unit) for power in self.powers for unit in self.units(power)}

    def due(self, power: str) -> int:
        """How many units it may build, or must remove where that is negative."""
        return len(self.centers(power)) - len(self.units(power)) if self.kind == "A" else 0

    def orders(self, place: str) -> tuple[str, ...]:
        """What may be ordered at a place."""
        return self._orders.get(place, ())

    def sheet(self, power: str) -> Sheet | None:
        """What a power is to fill in now; None where it has nothing to decide.

        A line for each unit; in adjustments as many lines as are due, each of one of the places that there are.
        """
        if power not in self._sheets:
            self._sheets[power] = self._sheet(power)
        return self._sheets[power]

    def _sheet(self, power: str) -> Sheet | None:
        slots = [Slot(place, self._orders[place]) for place in self._places.get(power, ()) if place in self._orders]
        due = abs(self.due(power))
        return Sheet(slots, min(due, len(slots)) if self.kind == "A" else None) if slots else None
