"""A position and its possible orders: public to everybody, immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stratagem.games.choices import Sheet, Slot
from stratagem.games.diplomacy.engine import Engine, Results, phase_of, position_of, possible_orders, replay_phase
from stratagem.games.diplomacy.position import BoardPosition

WAIVE = "WAIVE"


class Board(BoardPosition):
    """A position, its possible orders, and the powers' order sheets."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(position_of(engine))
        self.phase = phase_of(engine)
        self._places = {power: tuple(places) for power, places in engine.get_orderable_locations().items()}
        self.orders_by_place = {} if self.over else possible_orders(engine)
        """Possible orders by place."""
        self._sheets: dict[str, Sheet | None] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and self.position == other.position

    def __hash__(self) -> int:
        return hash(self.position)

    def __repr__(self) -> str:
        return f"Board({self.position})"

    def due(self, power: str) -> int:
        """Return the number of units to build, or to remove where it is negative."""
        return len(self.centers(power)) - len(self.units(power)) if self.kind == "A" else 0

    def orders(self, place: str) -> tuple[str, ...]:
        """Return the possible orders at a place."""
        return self.orders_by_place.get(place, ())

    def acts(self, power: str) -> bool:
        """Return whether a power has something to decide now."""
        return self.sheet(power) is not None

    def allows(self, power: str, action: str) -> bool:
        """Return whether an action is a legal sheet of a power."""
        sheet = self.sheet(power)
        return sheet is not None and action in sheet

    def replay_orders(self, map_name: str, orders: Mapping[str, Sequence[str]]) -> Results:
        """Return the results of this phase with other orders."""
        return replay_phase(map_name, self.position, orders)

    def sheet(self, power: str) -> Sheet | None:
        """Return the sheet that a power is to fill in now; None where it has nothing to decide.

        A line for each unit; in adjustments as many lines as are due, each of one of the places that there are.
        """
        if power not in self._sheets:
            self._sheets[power] = self._sheet(power)
        return self._sheets[power]

    def _sheet(self, power: str) -> Sheet | None:
        orders = self.orders_by_place
        slots = [Slot(place, orders[place]) for place in self._places.get(power, ()) if place in orders]
        due = abs(self.due(power))
        return Sheet(slots, min(due, len(slots)) if self.kind == "A" else None) if slots else None
