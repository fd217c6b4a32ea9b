"""Tests of replies: whether they change in the course of an audit, follow one another, or differ between two settings.

Each is a permutation test within questions (Fisher 1935): under the null hypothesis the order of the replies to one
question, or the setting in which each was given, tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.key import Key

Floats = NDArray[np.float64]
Replies = Sequence[Sequence[int]]
"""Indices of the actions by question, in the order in which they were asked for."""
_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
_FADING = (0.0, 0.8, 1.0)
"""Factors by which a reply of the past fades with each later one: the one before alone, the recent ones, all alike."""
_FLAT = 1e-9
"""Spread of a statistic that no order changes, but for rounding."""
_ROUNDS = 1_999
"""Drawn orders: the least p is 1 / 2,000, which Holm's correction for up to 100 tests leaves at .05 or less."""
_QUICK_ROUNDS = 499
"""Drawn orders of a test that stands alone: leduc's 936 questions take a second."""
DEPENDENT = 0.05
"""p up to which replies count as dependent on each other."""


class PermutationTest(NamedTuple):
    """Statistic, its p-value, and the question that contributes most."""

    value: float
    p: float
    question: int


def find_change(replies: Replies, key: Key, rounds: int = _ROUNDS) -> PermutationTest:
    """Test whether early replies differ from late ones, for the best of five places to cut.

    The value is the mean total variation between the two sides of that cut, by replies. The test is by squared
    differences of frequencies, each cut by its own mean and spread under the null hypothesis.
    """
    generator = np.random.default_rng(key.at("changed").value)
    every, parts, apart = np.zeros((len(_SHARES), 1 + rounds)), [], np.zeros(len(_SHARES))
    for row in replies:
        one = _rows(row, generator, rounds)
        cuts = [max(1, round(share * len(row))) for share in _SHARES]
        squares = distances_of_cuts(one, cuts, power=2)
        every += squares
        parts.append(squares[:, 0] - squares[:, 1:].mean(axis=1))
        apart += np.array([_distance(one[:1], cut)[0] / 2 for cut in cuts])
    spread = every[:, 1:].std(axis=1, keepdims=True)
    scores = (every - every[:, 1:].mean(axis=1, keepdims=True)) / np.where(spread < _FLAT, np.inf, spread)
    best = int(np.argmax(scores[:, 0]))
    p = _p(scores[:, 0].max(), scores[:, 1:].max(axis=0))
    total = max(1, sum(map(len, replies)))
    return PermutationTest(float(apart[best]) / total, p, int(np.argmax([part[best] for part in parts])))


def follow(replies: Replies, key: Key, rounds: int = _ROUNDS) -> PermutationTest:
    """Test whether replies depend on earlier ones to the same question: on the one before, the recent ones, or all.

    The value is the share of equal neighbours less its mean under the null hypothesis. The test is by the largest of
    three statistics, each by its own mean and spread under the null hypothesis, in either direction. Each is the sum,
    over the replies, of the weight of equal replies among the earlier ones, divided by the share of that action among
    all: the derivative of the log-likelihood by the chance that a reply is copied from an earlier one with that weight.
    """
    generator = np.random.default_rng(key.at("follow").value)
    seen, drawn, total, parts = 0.0, np.zeros(rounds), np.zeros((len(_FADING), 1 + rounds)), []
    for row in replies:
        one = _rows(row, generator, rounds)
        equal = (one[:, 1:] == one[:, :-1]).sum(axis=1).astype(np.float64)
        seen += float(equal[0])
        drawn += equal[1:]
        copies = _copy_scores(one)
        total += copies
        parts.append(copies[:, 0] - copies[:, 1:].mean(axis=1))
    pairs = max(1, sum(max(0, len(row) - 1) for row in replies))
    centre, spread = total[:, 1:].mean(axis=1, keepdims=True), total[:, 1:].std(axis=1, keepdims=True)
    scores = np.abs(total - centre) / np.where(spread < _FLAT, np.inf, spread)
    largest = int(np.argmax(scores[:, 0]))
    p = _p(scores[:, 0].max(), scores[:, 1:].max(axis=0))
    question = int(np.argmax([abs(float(part[largest])) for part in parts]))
    return PermutationTest((seen - float(drawn.mean())) / pairs, p, question)


def _copy_scores(rows: NDArray[np.int64]) -> Floats:
    """Return by factor of fading, for each row, the weight of equal earlier replies by the share of their action."""
    total = np.zeros((len(_FADING), len(rows)))
    shares = [(action, float((rows[0] == action).mean())) for action in np.unique(rows[0])]
    if len(shares) < 2:  # equal replies in any order are the same
        return total
    columns = np.ascontiguousarray(rows.T)  # each step below reads a whole column
    for action, share in shares:
        hits = (columns == action).astype(np.float64)
        for place, fading in enumerate(_FADING):
            past, weight = np.zeros(len(rows)), 0.0
            for column in range(1, len(hits)):
                past = fading * past + hits[column - 1]
                weight = fading * weight + 1.0
                total[place] += hits[column] * past / (weight * share)
    return total


def differ(first: Replies, second: Replies, key: Key, rounds: int = _ROUNDS) -> PermutationTest:
    """Test whether the replies in two settings come from one policy.

    The value is the mean total variation between the frequencies, by replies; two samples of one policy have some, too.
    The test is by squared differences of frequencies, each question weighted by n m / (n + m) of n replies in one
    setting and m in the other, by which all have the same spread under the null hypothesis.
    """
    generator = np.random.default_rng(key.at("differ").value)
    drawn, parts, apart, total = np.zeros(1 + rounds), [], 0.0, 0
    for one, other in zip(first, second, strict=True):
        rows = _rows([*one, *other], generator, rounds)
        squares = _distance(rows, len(one), power=2) * len(one) * len(other) / max(1, rows.shape[1]) ** 2
        drawn += squares
        parts.append(float(squares[0] - squares[1:].mean()))
        if one and other:
            apart += float(_distance(rows[:1], len(one))[0]) / 2
            total += rows.shape[1]
    return PermutationTest(apart / max(1, total), _p(drawn[0], drawn[1:]), int(np.argmax(parts)))


def dependence_p(replies: Replies, key: Key, rounds: int = _QUICK_ROUNDS) -> float:
    """Return the p of the null hypothesis that replies are independent: change and sequence, by Bonferroni."""
    return min(1.0, 2.0 * min(find_change(replies, key, rounds).p, follow(replies, key, rounds).p))


def _rows(replies: Sequence[int], generator: np.random.Generator, rounds: int) -> NDArray[np.int64]:
    """Return the replies as they were, and in drawn orders, a row each."""
    row = np.asarray(replies, dtype=np.int64)
    return np.vstack([row, generator.permuted(np.tile(row, (rounds, 1)), axis=1)])


def _distance(rows: NDArray[np.int64], cut: int, power: int = 1) -> Floats:
    """Return the sum of differences of frequencies on both sides of a cut, to a power, times the number of replies."""
    result: Floats = distances_of_cuts(rows, [cut], power)[0]
    return result


def distances_of_cuts(rows: NDArray[np.int64], cuts: Sequence[int], power: int = 1) -> Floats:
    """Return the differences of frequencies of `_distance` for several cuts, a row each.

    Counts are whole numbers, so a product of matrices is exact.
    """
    size = rows.shape[1]
    inside = np.array([0 < cut < size for cut in cuts])
    early = np.where(inside, cuts, 1)
    sides = np.concatenate([np.arange(size)[:, None] < early, np.ones((size, 1))], axis=1, dtype=np.float32)
    total: Floats = np.zeros((len(rows), len(cuts)))
    for action in np.unique(rows[0]):
        counts = ((rows == action).astype(np.float32) @ sides).astype(np.float64)
        before = counts[:, :-1]
        total += np.abs(before / early - (counts[:, -1:] - before) / np.where(inside, size - early, 1)) ** power
    total = np.where(inside, size * total, 0.0)  # without replies on both sides nothing differs
    return np.ascontiguousarray(total.T)  # the order of later sums depends on the layout


def _p(seen: float, drawn: Floats) -> float:
    """Return `(found + 1) / (rounds + 1)` (Phipson and Smyth 2010)."""
    # an order with the same statistic counts as found, though its sum may differ in the last digit
    return (int((drawn >= seen - 1e-9).sum()) + 1) / (len(drawn) + 1)
