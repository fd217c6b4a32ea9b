"""Decisions as rows of plain values: cheap to append, and nothing for the garbage collector to look at.

An episode holds rows while it is played and written; whoever asks for its `decisions` gets objects made of them.
"""

from __future__ import annotations

from collections.abc import Mapping
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
Row = tuple[Any, ...]
SEAT, TURN, ATTEMPT, HOW, SAID, BEHIND = map(FIELDS.index, ("seat", "turn", "attempt", "how", "said", "calls"))
"""Places in a row; `BEHIND` is that of the calls."""
_order = itemgetter(SEAT, ATTEMPT)
_NO_PARTS: Mapping[int, tuple[ActionPart, ...]] = {}


class DecisionRows:
    """Decisions of one episode in the order of play, with their rewards beside them."""

    __slots__ = ("_last", "advantages", "dropped", "parts", "payoffs", "rows", "talked")

    def __init__(self, seats: int = 0) -> None:
        self.rows: list[Row] = []
        self.payoffs: list[float] = []
        """Reward of each row."""
        self.dropped: frozenset[int] = frozenset()
        """Numbers of the rows whose transition is discarded."""
        self.parts: Mapping[int, tuple[ActionPart, ...]] = _NO_PARTS
        """Classified pieces of actions by the number of the row."""
        self.advantages: Mapping[int, float] = {}
        """Advantages in training by the number of the row."""
        self.talked = False
        """True if a row has calls of models."""
        self._last = [-1] * seats
        """Number of the latest row of each seat."""

    def __len__(self) -> int:
        return len(self.rows)

    def close_turn(self, result: RoundResult) -> None:
        """Put the rows of this turn into the order of the seats, however they were made, and reward them."""
        rows, payoffs = self.rows, self.payoffs
        start = len(payoffs)
        if len(rows) - start > 1:
            rows[start:] = sorted(rows[start:], key=_order)
        for number in range(start, len(rows)):
            self._last[rows[number][SEAT]] = number  # of several attempts, the last was played
            payoffs.append(0.0)
        if any(result.payoffs) or result.parts:
            self.credit(result)
        if result.keep is not None:
            played = {row[SEAT] for row in rows[start:]}
            self.dropped |= {self._last[seat] for seat in played if not result.keep[seat]}

    def credit(self, result: RoundResult) -> None:
        """Add rewards and pieces of actions to each seat's latest row."""
        for last, payoff in zip(self._last, result.payoffs, strict=True):
            if payoff and last >= 0:
                self.payoffs[last] += payoff
        for seat, parts in (result.parts or {}).items():
            if (last := self._last[seat]) >= 0:
                self.parts = {**self.parts, last: (*self.parts.get(last, ()), *parts)}
