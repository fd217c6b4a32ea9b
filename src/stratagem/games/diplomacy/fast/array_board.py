"""A board of arrays: the same facts as `Board`, and the next board without the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stratagem.games.choices import Sheet, Slot
from stratagem.games.diplomacy.board import WAIVE, Board
from stratagem.games.diplomacy.engine import STANDARD, Results, engine_at, orders_at, position_of
from stratagem.games.diplomacy.fast.cells import (
    HOLD,
    LOSER,
    LOST,
    MOVE,
    OWNER,
    POWER,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    UNIT,
    VOID,
)
from stratagem.games.diplomacy.fast.chart import Ints, chart, names
from stratagem.games.diplomacy.fast.phases import due, play_phase
from stratagem.games.diplomacy.fast.text import (
    OrderCode,
    board_array,
    order_code,
    orders_array,
    phase_name,
    position_text,
    refuges,
    result_words,
    results_of,
)


class ArrayBoard(Board):
    """A position as an array; texts are made where somebody asks for them."""

    def __init__(self, cells: Ints) -> None:
        self.cells = cells
        """The array, never changed."""
        self.phase = phase_name(cells)
        self._sheets: dict[str, Sheet | None] = {}

    @classmethod
    def at(cls, position: str) -> ArrayBoard | None:
        """Return the board of a position; None where the arrays cannot hold it."""
        try:
            board = cls(board_array(position))
        except (LookupError, ValueError):
            return None
        return board if board.position == position else None

    def play_orders(self, orders: Mapping[str, Sequence[str]]) -> tuple[ArrayBoard, Results]:
        """Return the next board after these orders, and their results."""
        cells, result = self.cells.copy(), np.zeros(self.cells.shape[1], np.int32)
        play_phase(chart(), cells, orders_array(line for own in orders.values() for line in own), result)
        results = results_of(self.cells, result)
        if self.kind == "A":  # so the engine calls every build that is waived
            results[WAIVE] = result_words(VOID)
        return ArrayBoard(cells), results

    def replay_orders(self, map_name: str, orders: Mapping[str, Sequence[str]]) -> Results:
        return self.play_orders(orders)[1]

    def acts(self, power: str) -> bool:
        number = names().power[power]
        if self.kind == "A":
            return bool(due(chart(), self.cells, number))
        return bool((self.cells[LOSER if self.kind == "R" else POWER] == number).any())

    def allows(self, power: str, action: str) -> bool:
        if self.kind == "M" and (lines := action.split("\n")) and len(lines) == len(self.units(power)):
            try:
                codes = [order_code(line) for line in lines]
            except LookupError:
                return False
            ascending = all(a.place < b.place for a, b in pairwise(codes))
            if ascending and all(self._is_plain(code, names().power[power]) for code in codes):
                return True
        return super().allows(power, action)

    def _is_plain(self, code: OrderCode, power: int) -> bool:
        """Return whether an order of a movement phase is possible, as far as that can be seen without convoys."""
        unit = self.cells[UNIT]
        if unit[code.place] != code.node or self.cells[POWER, code.place] != power:
            return False
        kind, whom, where, extra = code.columns
        if kind == HOLD:
            return True
        if kind == MOVE:
            return extra == 0 and whom in _reach()[code.node]
        if kind not in (SUPPORT_HOLD, SUPPORT_MOVE) or unit[whom] != code.helped or whom == code.place:
            return False
        helps = where in _helps()[code.node]
        if kind == SUPPORT_HOLD or not helps:
            return helps
        goals = _reach()[code.helped]
        return extra in goals if extra >= 0 else where in {_province()[goal] for goal in goals}

    def _sheet(self, power: str) -> Sheet | None:
        if self.kind == "M":
            return super()._sheet(power)
        number, cells = names().power[power], self.cells
        if self.kind == "R":
            return _sheet_of({p: self._retreats(p) for p in _where(cells[LOSER] == number)})
        fill = int(due(chart(), cells, number))
        if fill < 0:
            removals = {p: [f"{names().nodes[cells[UNIT, p]]} D"] for p in _where(cells[POWER] == number)}
            return _sheet_of(removals, -fill)
        homes = (chart().homes == number) & (cells[OWNER] == number) & (cells[UNIT] < 0)
        builds = {p: [WAIVE, *(f"{names().nodes[n]} B" for n in chart().nodes[p] if n >= 0)] for p in _where(homes)}
        return _sheet_of(builds, fill) if fill else None

    def _retreats(self, place: int) -> list[str]:
        unit = names().nodes[self.cells[LOST, place]]
        free = [node for node in refuges(self.cells, place) if self.cells[UNIT, _province()[node]] < 0]
        return [f"{unit} D", *(f"{unit} R {names().nodes[node][2:]}" for node in free)]

    @cached_property
    def position(self) -> str:  # type: ignore[override]
        return position_text(self.cells)

    @cached_property
    def _places(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        return {power: tuple(sorted(unit[2:5] for unit in self.units(power))) for power in self.powers}

    @cached_property
    def orders_by_place(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        """Possible orders by place, which take the engine."""
        return {} if self.over else orders_at(STANDARD, self.position)

    @property
    def powers(self) -> tuple[str, ...]:
        return names().powers

    @cached_property
    def _units(self) -> dict[str, tuple[str, ...]]:
        own: dict[str, list[str]] = {power: [] for power in names().powers}
        unit, power = self.cells[UNIT].tolist(), self.cells[POWER].tolist()
        for node, owner in zip(unit, power, strict=True):
            if node >= 0:
                own[names().powers[owner]].append(names().nodes[node])
        return {power: tuple(sorted(units)) for power, units in own.items()}

    def units(self, power: str) -> tuple[str, ...]:
        return self._units[power]

    def units_to_retreat(self, power: str) -> dict[str, list[str]]:
        places = _where(self.cells[LOSER] == names().power[power])
        found = {names().nodes[self.cells[LOST, p]]: refuges(self.cells, p) for p in places}
        return {unit: sorted(names().nodes[node][2:] for node in nodes) for unit, nodes in sorted(found.items())}

    @cached_property
    def owners(self) -> dict[str, str]:
        owners = {
            place: owner for place, owner in zip(names().places, self.cells[OWNER].tolist(), strict=True) if owner >= 0
        }
        return {place: names().powers[owner] for place, owner in sorted(owners.items(), key=lambda item: item[1])}

    def centers(self, power: str) -> tuple[str, ...]:
        return tuple(place for place, owner in self.owners.items() if owner == power)


def _where(holds: NDArray[np.bool_]) -> list[int]:
    """Return the provinces for which something holds."""
    return list(np.flatnonzero(holds).tolist())


def _sheet_of(options: Mapping[int, list[str]], fill: int | None = None) -> Sheet | None:
    """Return the sheet with the options of each province."""
    slots = [Slot(names().places[place], tuple(sorted(lines))) for place, lines in options.items()]
    return Sheet(slots, fill) if slots else None


@lru_cache(maxsize=1)
def first_board() -> ArrayBoard:
    """Return the board at the beginning of the game, cached."""
    return ArrayBoard(board_array(position_of(engine_at(STANDARD))))


@lru_cache(maxsize=1)
def _reach() -> list[frozenset[int]]:
    return [frozenset(row) - {-1} for row in chart().reach.tolist()]


@lru_cache(maxsize=1)
def _helps() -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(row).tolist()) for row in chart().helps]


@lru_cache(maxsize=1)
def _province() -> list[int]:
    return list(chart().place.tolist())
