"""How members of a population fared against each other, as measured; old results count less and less.

With each result of a pair its earlier counts decay (by 0.99 in AlphaStar), so a rate follows policies that learn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratagem.errors import BadRecord

Floats = NDArray[np.float64]
DECAY = 0.99
UNKNOWN = 0.5
"""The rate of a pair that has not met."""


class Results:
    """Results and points of every pair, one view for each side; a result's points are the share that was won."""

    def __init__(self, names: Iterable[str] = (), decay: float = DECAY) -> None:
        self.decay = decay
        self._place: dict[str, int] = {}
        self._games: Floats = np.zeros((0, 0))
        self._points: Floats = np.zeros((0, 0))
        for name in names:
            self.add(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody, in the order in which they came."""
        return tuple(self._place)

    def add(self, name: str) -> None:
        """Somebody new, who has met nobody."""
        if name in self._place:
            return
        self._place[name] = len(self._place)
        if len(self._place) > len(self._games):  # room for twice as many, so that adding is cheap
            size = max(8, 2 * len(self._games))
            self._games, self._points = (_wider(counts, size) for counts in (self._games, self._points))

    def forget(self, name: str) -> None:
        """All that is known of somebody goes, as when a learner begins anew."""
        place = self._place[name]
        for counts in (self._games, self._points):
            counts[place, :] = counts[:, place] = 0.0

    def copy(self, name: str, to: str) -> None:
        """A checkpoint takes over what its learner has shown so far."""
        self.add(to)
        source, target = self._place[name], self._place[to]
        for counts in (self._games, self._points):
            counts[target, :], counts[:, target] = counts[source, :], counts[:, source]
            counts[target, target] = 0.0

    def record(self, hero: str, opponent: str, points: float) -> None:
        """One result: 1 if the hero won, 0.5 for a draw, 0 if it lost, or the mean over rollouts from one position."""
        if not 0.0 <= points <= 1.0:
            raise ValueError(f"points are from 0 to 1, not {points}")
        one, other = self._place[hero], self._place[opponent]
        for mine, theirs, gained in ((one, other, points), (other, one, 1.0 - points)):
            self._games[mine, theirs] = self._games[mine, theirs] * self.decay + 1.0
            self._points[mine, theirs] = self._points[mine, theirs] * self.decay + gained
            if one == other:
                return

    def rate(self, hero: str, opponent: str) -> float:
        """How often the hero won, draws counting half; one half for a pair that has not met."""
        return float(self.rates(hero, [opponent])[0])

    def rates(self, hero: str, opponents: Sequence[str]) -> Floats:
        """The same against several."""
        points, games = self.counts(hero, opponents)
        rates: Floats = np.full(len(games), UNKNOWN)
        np.divide(points, games, out=rates, where=games > 0.0)
        return rates

    def games(self, hero: str, opponent: str) -> float:
        """How many games of a pair still count."""
        return float(self._games[self._place[hero], self._place[opponent]])

    def counts(self, hero: str, opponents: Sequence[str]) -> tuple[Floats, Floats]:
        """The hero's points against several, and its games, that still count."""
        row, columns = self._place[hero], [self._place[name] for name in opponents]
        return self._points[row, columns], self._games[row, columns]

    def met(self) -> Iterator[tuple[int, int, float, float]]:
        """Every pair that has met, by places: the hero, the opponent, games and points that still count."""
        size = len(self._place)
        heroes, others = np.nonzero(self._games[:size, :size] > 0.0)
        games, points = self._games[heroes, others], self._points[heroes, others]
        return zip(heroes.tolist(), others.tolist(), games.tolist(), points.tolist(), strict=True)

    def state(self) -> dict[str, Any]:
        """Plain data: the names, and a row for each pair that has met."""
        rows = [list(row) for row in self.met()]
        return {"decay": self.decay, "names": list(self._place), "met": rows}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Results:
        """The results of a state."""
        try:
            results = cls(state["names"], state["decay"])
            for one, other, games, points in state["met"]:
                _ = results.names[one], results.names[other]
                results._games[one, other], results._points[one, other] = games, points
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BadRecord(f"These are no results of a league: {error!r}.") from error
        return results


def _wider(counts: Floats, size: int) -> Floats:
    wider = np.zeros((size, size))
    wider[: len(counts), : len(counts)] = counts
    return wider
