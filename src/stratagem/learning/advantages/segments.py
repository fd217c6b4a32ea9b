"""Segments of rows: numbering, sums and means over segments, and backward passes through episodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stratagem.learning.advantages.base import Floats, Ints


class Cells(NamedTuple):
    """Partition of rows into cells, numbered from 0 in the order of their codes."""

    of: Ints
    """Cell of each row."""
    first: Ints
    """First row of each cell."""

    @property
    def sizes(self) -> Ints:
        """Number of rows of each cell."""
        return np.bincount(self.of, minlength=len(self.first))

    def total(self, values: Floats) -> Floats:
        """Sum a column over the rows of each cell, in their order."""
        sums: Floats = np.bincount(self.of, weights=values, minlength=len(self.first)).astype(np.float64, copy=False)
        return sums

    def mean(self, values: Floats) -> Floats:
        """Return for each row the mean of its cell: bitwise the value itself where the cell is constant."""
        first = values[self.first][self.of]
        return first + (self.total(values - first) / self.sizes)[self.of]


def cells(*columns: Ints) -> Cells:
    """Put rows that agree in all these columns into one cell."""
    joint, first = columns[0], np.zeros(0, dtype=np.int64)
    for number, column in enumerate(columns):
        if number:
            low = column.min(initial=0)
            joint = joint * (column.max(initial=0) - low + 1) + (column - low)
        _, first, joint = np.unique(joint, return_index=True, return_inverse=True)
    return Cells(joint, first)


def subtract_group_mean(values: Floats, groups: Cells) -> Floats:
    """Subtract from each value the mean of its group: exactly 0 where the group is constant.

    A mean of equal numbers may be off by a rounding; the mean of their differences from one of them is not.
    """
    far = values - values[groups.first][groups.of]
    return far - (groups.total(far) / groups.sizes)[groups.of]


def backwards(episodes: Cells) -> Iterator[Ints]:
    """Yield the last row of every episode, then the last but one of every episode that has one, and so on."""
    order = np.argsort(episodes.of, kind="stable")
    ends = np.cumsum(episodes.sizes)
    left = ends[episodes.of[order]] - 1 - np.arange(len(order))
    by_distance = order[np.argsort(left, kind="stable")]
    yield from np.split(by_distance, np.cumsum(np.bincount(left))[:-1]) if len(order) else ()


def returns_to_go(values: Floats, episodes: Cells) -> Floats:
    """Sum the values from each row to the end of its episode."""
    sums = np.zeros(len(values))
    so_far = np.zeros(len(episodes.first))
    for rows in backwards(episodes):
        episode = episodes.of[rows]
        so_far[episode] += values[rows]
        sums[rows] = so_far[episode]
    return sums


def remaining_steps(episodes: Cells) -> Ints:
    """Count the rows of its episode after each row."""
    left = np.zeros(len(episodes.of), dtype=np.int64)
    for steps, rows in enumerate(backwards(episodes)):
        left[rows] = steps
    return left
