"""Handles of tables: unguessable names, of which there is a limited number, and which end when nobody uses them."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from math import inf
from typing import Generic, Protocol, TypeVar

from stratagem.base.errors import BadParameter

IDLE = 1800.0
"""Seconds without a call after which a table is closed, by default."""


class IdleTable(Protocol):
    """Table that may be closed."""

    @property
    def is_idle(self) -> bool:
        """True if nothing is lost where it is closed."""
        ...


T = TypeVar("T", bound=IdleTable)


class TableHandles(Generic[T]):
    """Tables by their handles. Whoever has a handle may act at its table, so handles are random."""

    def __init__(self, most: int, idle: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._idle, self._clock = most, idle, clock
        self._tables: OrderedDict[str, tuple[T, float]] = OrderedDict()
        """Tables and the times of their last calls, the longest ago first."""

    def __len__(self) -> int:
        return len(self._tables)

    def check_room(self) -> None:
        """Make room for one more table; refused where all are in use."""
        self._close_old()
        if len(self._tables) < self._most:
            return
        over = next((handle for handle, (table, _) in self._tables.items() if table.is_idle), None)
        if over is None:
            raise BadParameter(
                f"{self._most} tables are open, and there is room for no more: finish one, or wait until one is closed "
                f"after {self._idle:g} s without a call."
            )
        del self._tables[over]

    def add(self, table: T) -> str:
        """Take a table, for which there is room, and return its handle."""
        handle = secrets.token_urlsafe(16)
        self._tables[handle] = table, self._clock()
        return handle

    def find(self, handle: str) -> T:
        """Return the table of a handle."""
        self._close_old()
        if handle not in self._tables:
            closed = "" if self._idle == inf else f"; a table without a call for {self._idle:g} s is closed"
            raise BadParameter(
                f"There is no table with this handle: take that of an earlier reply, or call open_table{closed}."
            )
        table, _ = self._tables[handle]
        self._tables[handle] = table, self._clock()
        self._tables.move_to_end(handle)
        return table

    def _close_old(self) -> None:
        """Close the tables without a call for too long."""
        since = self._clock() - self._idle
        while self._tables and next(iter(self._tables.values()))[1] < since:
            self._tables.popitem(last=False)
