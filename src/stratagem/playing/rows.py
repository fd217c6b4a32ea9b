"""Decisions as one list of plain values: cheap to append, and no object a decision.

An episode holds it while it is played and written; whoever asks for its `decisions` gets objects made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

from stratagem.games.base import ActionPart, RoundResult

FIELDS = (
    "round",
    "turn",
    "clock",
    "seat",
    "slot",
    "attempt",
    "state_key",
    "info_key",
    "action",
    "how",
    "said",
    "calls",
)
"""Fields of a decision that are known once it is made, in the order of a row; rewards come later."""
WIDTH = len(FIELDS)
Row = tuple[Any, ...]
SEAT, TURN, ATTEMPT, HOW, SAID, BEHIND = map(FIELDS.index, ("seat", "turn", "attempt", "how", "said", "calls"))
"""Places in a row; `BEHIND` is that of the calls."""
_order = itemgetter(SEAT, ATTEMPT)
_NO_PARTS: Mapping[int, tuple[ActionPart, ...]] = {}
_NO_ADVANTAGES: Mapping[int, float] = {}


class DecisionRows:
    """Decisions of one episode in the order of play, with their rewards beside them."""

    __slots__ = ("_last", "_late", "_seat", "_start", "advantages", "dropped", "parts", "payoffs", "talked", "values")

    def __init__(self, seats: int = 0) -> None:
        self.values: list[Any] = []
        """Values of `FIELDS` of the first row, then of the second, and so on."""
        self.payoffs: list[float] = []
        """Reward of each row."""
        self.dropped: frozenset[int] = frozenset()
        """Numbers of the rows whose transition is discarded."""
        self.parts: Mapping[int, tuple[ActionPart, ...]] = _NO_PARTS
        """Classified pieces of actions by the number of the row."""
        self.advantages: Mapping[int, float] = _NO_ADVANTAGES
        """Advantages in training by the number of the row."""
        self.talked = False
        """True if a row has calls of models."""
        self._last = [-1] * seats
        """Number of the latest row of each seat."""
        self._start = 0
        """Number of the first row of the turn in progress."""
        self._seat = -1
        """Seat of its latest row."""
        self._late = False
        """True if its rows are not in the order of the seats: a player that was waited for is late."""

    def __len__(self) -> int:
        return len(self.values) // WIDTH

    def rows(self) -> list[Row]:
        """Return the values of each row."""
        values = iter(self.values)
        return list(zip(*[values] * WIDTH, strict=True))

    def append(self, row: Row) -> None:
        """Append a decision of the turn in progress."""
        seat, payoffs = row[SEAT], self.payoffs
        if seat < self._seat:
            self._late = True
        self._seat = seat
        self._last[seat] = len(payoffs)  # of several attempts, the last was played
        if row[BEHIND]:
            self.talked = True
        self.values += row
        payoffs.append(0.0)

    def close_turn(self, result: RoundResult) -> None:
        """Put the rows of this turn into the order of the seats, however they were made, and reward them."""
        if self._late:
            self._sort_turn()
        if any(result.payoffs) or result.parts:
            self.credit(result)
        if result.keep is not None:
            seats = self.values[self._start * WIDTH + SEAT :: WIDTH]
            self.dropped |= {self._last[seat] for seat in seats if not result.keep[seat]}
        self._start, self._seat = len(self.payoffs), -1

    def _sort_turn(self) -> None:
        rows = sorted(self.rows()[self._start :], key=_order)
        self.values[self._start * WIDTH :] = chain.from_iterable(rows)
        for number, row in enumerate(rows, self._start):
            self._last[row[SEAT]] = number
        self._late = False

    def credit(self, result: RoundResult) -> None:
        """Add rewards and pieces of actions to each seat's latest row."""
        for last, payoff in zip(self._last, result.payoffs, strict=True):
            if payoff and last >= 0:
                self.payoffs[last] += payoff
        for seat, parts in (result.parts or {}).items():
            if (last := self._last[seat]) >= 0:
                self.parts = {**self.parts, last: (*self.parts.get(last, ()), *parts)}
