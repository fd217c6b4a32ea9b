"""Measured results between members of a population, with decay of old ones.

With each result of a pair its earlier counts decay (by 0.99 in AlphaStar), so a rate follows policies that learn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadRecord

Floats = NDArray[np.float64]
DECAY = 0.99
UNKNOWN = 0.5
"""Win rate of a pair that has not met."""


class Results:
    """Games and points of every pair, one view for each side; the points of a result are the share that was won."""

    def __init__(self, names: Iterable[str] = (), decay: float = DECAY) -> None:
        self.decay = decay
        self._index: dict[str, int] = {}
        self._games: Floats = np.zeros((0, 0))
        self._points: Floats = np.zeros((0, 0))
        for name in names:
            self.add(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all members, in the order in which they came."""
        return tuple(self._index)

    def add(self, name: str) -> None:
        """Add a member without results."""
        if name in self._index:
            return
        self._index[name] = len(self._index)
        if len(self._index) > len(self._games):  # room for twice as many, so that adding is cheap
            size = max(8, 2 * len(self._games))
            self._games, self._points = (_wider(counts, size) for counts in (self._games, self._points))

    def forget(self, name: str) -> None:
        """Forget all results of a member, as when a learner is reset."""
        index = self._index[name]
        for counts in (self._games, self._points):
            counts[index, :] = counts[:, index] = 0.0

    def copy(self, name: str, to: str) -> None:
        """Copy the results of a learner to its checkpoint."""
        self.add(to)
        source, target = self._index[name], self._index[to]
        for counts in (self._games, self._points):
            counts[target, :], counts[:, target] = counts[source, :], counts[:, source]
            counts[target, target] = 0.0

    def record(self, agent: str, opponent: str, points: float) -> None:
        """Add one result.

        1 for a win of the agent, 0.5 for a draw, 0 for a loss, or the mean over branched rollouts.
        """
        if not 0.0 <= points <= 1.0:
            raise ValueError(f"points are from 0 to 1, not {points}")
        first, second = self._index[agent], self._index[opponent]
        for mine, theirs, gained in ((first, second, points), (second, first, 1.0 - points)):
            self._games[mine, theirs] = self._games[mine, theirs] * self.decay + 1.0
            self._points[mine, theirs] = self._points[mine, theirs] * self.decay + gained
            if first == second:
                return

    def rate(self, agent: str, opponent: str) -> float:
        """Return the agent's win rate, draws counting half; one half for a pair that has not met."""
        return float(self.rates(agent, [opponent])[0])

    def rates(self, agent: str, opponents: Sequence[str]) -> Floats:
        """Return the win rates against several opponents."""
        points, games = self.counts(agent, opponents)
        rates: Floats = np.full(len(games), UNKNOWN)
        np.divide(points, games, out=rates, where=games > 0.0)
        return rates

    def games(self, agent: str, opponent: str) -> float:
        """Return the number of games of a pair, after decay."""
        return float(self._games[self._index[agent], self._index[opponent]])

    def counts(self, agent: str, opponents: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the agent's points and games against several opponents, after decay."""
        row, columns = self._index[agent], [self._index[name] for name in opponents]
        return self._points[row, columns], self._games[row, columns]

    def pairs(self) -> Iterator[tuple[int, int, float, float]]:
        """Return every pair that has met, by indices: agent, opponent, games and points after decay."""
        size = len(self._index)
        agents, others = np.nonzero(self._games[:size, :size] > 0.0)
        games, points = self._games[agents, others], self._points[agents, others]
        return zip(agents.tolist(), others.tolist(), games.tolist(), points.tolist(), strict=True)

    def state(self) -> dict[str, Any]:
        """Return the results as plain data: the names, and a row for each pair that has met."""
        rows = [list(row) for row in self.pairs()]
        return {"decay": self.decay, "names": list(self._index), "met": rows}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Results:
        """Restore the results of a state."""
        try:
            results = cls(state["names"], state["decay"])
            for first, second, games, points in state["met"]:
                _ = results.names[first], results.names[second]
                results._games[first, second], results._points[first, second] = games, points
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BadRecord(f"These are no results of a league: {error!r}.") from error
        return results


def _wider(counts: Floats, size: int) -> Floats:
    wider = np.zeros((size, size))
    wider[: len(counts), : len(counts)] = counts
    return wider
