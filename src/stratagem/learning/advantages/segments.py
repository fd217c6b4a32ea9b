"""Rows that belong together: numbering them, adding them up, centring them, and going through episodes backwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stratagem.learning.advantages.base import Floats, Ints


class Cells(NamedTuple):
    """Rows in cells that are numbered from 0, in the order of their codes."""

    of: Ints
    """The cell of each row."""
    first: Ints
    """A row of each cell, the first."""

    @property
    def sizes(self) -> Ints:
        """How many rows each cell has."""
        return np.bincount(self.of, minlength=len(self.first))

    def total(self, values: Floats) -> Floats:
        """The sum over each cell's rows, in their order."""
        sums: Floats = np.bincount(self.of, weights=values, minlength=len(self.first)).astype(np.float64, copy=False)
        return sums

    def mean(self, values: Floats) -> Floats:
        """Each row's cell's mean: the value itself, to the bit, where all of a cell are alike."""
        first = values[self.first][self.of]
        return first + (self.total(values - first) / self.sizes)[self.of]


def cells(*columns: Ints) -> Cells:
    """Rows that are alike in all these columns are in one cell."""
    joint, first = columns[0], np.zeros(0, dtype=np.int64)
    for number, column in enumerate(columns):
        if number:
            low = column.min(initial=0)
            joint = joint * (column.max(initial=0) - low + 1) + (column - low)
        _, first, joint = np.unique(joint, return_index=True, return_inverse=True)
    return Cells(joint, first)


def subtract_group_mean(values: Floats, groups: Cells) -> Floats:
    """Each value less its group's mean: exactly 0 where all of a group are alike.

    A mean of equal numbers may be off by a rounding; the mean of their differences from one of them is not.
    """
    far = values - values[groups.first][groups.of]
    return far - (groups.total(far) / groups.sizes)[groups.of]


def backwards(episodes: Cells) -> Iterator[Ints]:
    """The last row of every episode, then the last but one of every episode that has one, and so on."""
    order = np.argsort(episodes.of, kind="stable")
    ends = np.cumsum(episodes.sizes)
    left = ends[episodes.of[order]] - 1 - np.arange(len(order))
    by_distance = order[np.argsort(left, kind="stable")]
    yield from np.split(by_distance, np.cumsum(np.bincount(left))[:-1]) if len(order) else ()


def returns_to_go(values: Floats, episodes: Cells) -> Floats:
    """What comes from each row on, to the end of its episode."""
    sums = np.zeros(len(values))
    so_far = np.zeros(len(episodes.first))
    for rows in backwards(episodes):
        episode = episodes.of[rows]
        so_far[episode] += values[rows]
        sums[rows] = so_far[episode]
    return sums


def remaining_steps(episodes: Cells) -> Ints:
    """How many rows of its episode come after each row."""
    left = np.zeros(len(episodes.of), dtype=np.int64)
    for steps, rows in enumerate(backwards(episodes)):
        left[rows] = steps
    return left
