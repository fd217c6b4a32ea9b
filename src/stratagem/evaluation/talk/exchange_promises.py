"""Promises and requests of an exchange in expectation: their probability, its level of chance, and its lift."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

from stratagem.evaluation.talk.exchange import Binding, Exchange
from stratagem.games.talk.language import Kind

K = TypeVar("K")


class Kept:
    """Promises, or requests, of an exchange in expectation."""

    def __init__(self, exchange: Exchange, kind: Kind) -> None:
        self._exchange = exchange
        self._bound = [one for one in exchange.bindings(kind) if one.weight > 0.0]

    def _mean(self, value: Callable[[Binding], float]) -> float | None:
        total = math.fsum(one.weight for one in self._bound)
        return math.fsum(one.weight * value(one) for one in self._bound) / total if total else None

    def _here(self, one: Binding) -> float:
        return self._exchange.kept(one.number, one.intent) or 0.0

    @property
    def probability(self) -> float | None:
        return self._mean(self._here)

    @property
    def lift(self) -> float | None:
        return self._mean(lambda one: self._here(one) - self._after_silence(one))

    def _after_silence(self, one: Binding) -> float:
        row = self._exchange.table.row(self._exchange.unheard(one.number))
        return self._exchange.kept(one.number, one.intent, row) or 0.0

    @property
    def by_chance(self) -> float | None:
        """Probability with what was said shuffled over the decisions that it binds at one history."""
        hits, tries = [], []
        for group in grouped(self._bound, lambda one: one.history).values():
            total = math.fsum(one.weight for one in group)
            for where in group:
                for what in group:
                    if (kept := self._exchange.kept(where.number, what.intent)) is not None:
                        weight = where.weight * what.weight / total
                        hits.append(weight * kept)
                        tries.append(weight)
        return math.fsum(hits) / math.fsum(tries) if tries else None


def grouped(items: Iterable[K], key: Callable[[K], int]) -> dict[int, list[K]]:
    """Return the items by number."""
    groups: dict[int, list[K]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
