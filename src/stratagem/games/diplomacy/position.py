"""Units and centres of a phase, read from a position's text; the engine is not needed for it."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from stratagem.games.diplomacy.engine import COMPLETED

PHASES = ("SM", "SR", "FM", "FR", "WA")
"""A year's phases in order: season, and movement, retreats or adjustments; all maps of the engine have these."""


class BoardPosition:
    """Units, dislodged units and centres of every power in a phase."""

    def __init__(self, position: str) -> None:
        self.position = position

    @cached_property
    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self.position)
        return state

    @cached_property
    def phase(self) -> str:
        """Short name such as S1901M: season, year, and M for movement, R for retreats, A for adjustments."""
        return str(self._state["name"])

    @property
    def over(self) -> bool:
        """True if somebody has won."""
        return self.phase == COMPLETED

    @property
    def kind(self) -> str:
        """Kind of the phase: M for movement, R for retreats, A for adjustments."""
        return self.phase[-1]

    @property
    def year(self) -> int:
        """The year of the phase."""
        return int(self.phase[1:-1])

    @property
    def clock(self) -> int:
        """The phases that a calendar counts up to this one, those that fall out as well."""
        return self.year * len(PHASES) + PHASES.index(self.phase[0] + self.kind)

    @property
    def powers(self) -> tuple[str, ...]:
        """All powers of the map."""
        return tuple(self._state["units"])

    def units(self, power: str) -> tuple[str, ...]:
        """Return the units of a power, such as A PAR."""
        return tuple(unit for unit in self._state["units"][power] if not unit.startswith("*"))

    def units_to_retreat(self, power: str) -> dict[str, list[str]]:
        """Return the units of a power that must retreat, and where they may go."""
        retreats: dict[str, list[str]] = self._state["retreats"][power]
        return retreats

    def centers(self, power: str) -> tuple[str, ...]:
        """Return the supply centres that a power owned at the last count."""
        return tuple(self._state["centers"][power])

    @cached_property
    def owners(self) -> dict[str, str]:
        """Owner of each centre; centres of nobody are left out."""
        return {place: power for power, places in self._state["centers"].items() for place in places}

    @cached_property
    def occupants(self) -> dict[str, tuple[str, str]]:
        """Power and unit by province, coasts left out."""
        return {unit[2:5]: (power, unit) for power in self.powers for unit in self.units(power)}
