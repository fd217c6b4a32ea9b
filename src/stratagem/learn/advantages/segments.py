"""Segments of rows: sums and means over them, rewards relative to a group, and backward passes through episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from stratagem.learn.advantages.base import AdvantageEstimate, Floats, Ints


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


def returns_to_go(values: Floats, episodes: Cells, discount: float = 1.0) -> Floats:
    """Sum the values from each row to the end of its episode, each discounted by its distance."""
    sums = np.zeros(len(values))
    so_far = np.zeros(len(episodes.first))
    for rows in backwards(episodes):
        episode = episodes.of[rows]
        so_far[episode] = values[rows] + discount * so_far[episode]
        sums[rows] = so_far[episode]
    return sums


def discounted_past(values: Floats, episodes: Cells, discount: float) -> Floats:
    """Sum the values of the rows k before each row t of its episode, each times `discount^(t - k)`."""
    sums = np.zeros(len(values))
    so_far = np.zeros(len(episodes.first))
    for rows in reversed(list(backwards(episodes))):
        episode = episodes.of[rows]
        sums[rows] = so_far[episode]
        so_far[episode] = discount * (so_far[episode] + values[rows])
    return sums


def remaining_steps(episodes: Cells) -> Ints:
    """Count the rows of its episode after each row."""
    left = np.zeros(len(episodes.of), dtype=np.int64)
    for steps, rows in enumerate(backwards(episodes)):
        left[rows] = steps
    return left


def group_relative(
    terms: Mapping[str, Floats], groups: Cells, *, std_epsilon: float | None, leave_one_out: bool = False
) -> AdvantageEstimate:
    """Subtract from each unit's terms their means over its group, and divide all by the std of their sum plus epsilon.

    Without an epsilon nothing is divided. A term that is constant in a group contributes exactly 0 there.
    """
    apart = {name: subtract_group_mean(values, groups) for name, values in terms.items()}
    together = sum(apart.values(), start=np.zeros(len(groups.of)))
    sizes, squares = groups.sizes, groups.total(together**2)
    others = np.maximum(sizes - 1, 1)
    factor = sizes / others if leave_one_out else np.ones(len(sizes))
    if std_epsilon is not None:
        factor = factor / (np.sqrt(squares / others) + std_epsilon)
    shares = {name: values * factor[groups.of] for name, values in apart.items()}
    counts = {
        "groups": len(sizes),
        "groups_of_one": int((sizes == 1).sum()),
        "groups_without_variance": int(((sizes > 1) & (squares == 0.0)).sum()),
    }
    advantage = sum(shares.values(), start=np.zeros(len(groups.of)))
    return AdvantageEstimate(advantage=advantage, term_advantages=shares, centred_terms=apart, counts=counts)


def broadcast(estimate: AdvantageEstimate, of: Ints) -> AdvantageEstimate:
    """Give each row the estimate of its unit."""
    shares, centred_ = (
        {name: values[of] for name, values in some.items()}
        for some in (estimate.term_advantages, estimate.centred_terms)
    )
    return AdvantageEstimate(
        advantage=estimate.advantage[of], term_advantages=shares, centred_terms=centred_, counts=estimate.counts
    )
