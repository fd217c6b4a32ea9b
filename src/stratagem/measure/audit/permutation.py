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
_ROUNDS = 1_999
"""Drawn orders: the least p is 1 / 2,000, which Holm's correction for up to 100 tests leaves at .05 or less."""


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
        squares = np.array([_distance(one, cut, power=2) for cut in cuts])
        every += squares
        parts.append(squares[:, 0] - squares[:, 1:].mean(axis=1))
        apart += np.array([_distance(one[:1], cut)[0] / 2 for cut in cuts])
    spread = every[:, 1:].std(axis=1, keepdims=True)
    scores = (every - every[:, 1:].mean(axis=1, keepdims=True)) / np.where(spread == 0.0, 1.0, spread)
    best = int(np.argmax(scores[:, 0]))
    p = _p(scores[:, 0].max(), scores[:, 1:].max(axis=0))
    total = max(1, sum(map(len, replies)))
    return PermutationTest(float(apart[best]) / total, p, int(np.argmax([part[best] for part in parts])))


def follow(replies: Replies, key: Key, rounds: int = _ROUNDS) -> PermutationTest:
    """Test whether a reply depends on the one before it to the same question, in either direction.

    The value is the share of equal neighbours less its mean under the null hypothesis.
    """
    generator = np.random.default_rng(key.at("follow").value)
    seen, drawn, parts = 0.0, np.zeros(rounds), []
    for row in replies:
        one = _rows(row, generator, rounds)
        equal = (one[:, 1:] == one[:, :-1]).sum(axis=1).astype(np.float64)
        parts.append(abs(float(equal[0] - equal[1:].mean())))
        seen += float(equal[0])
        drawn += equal[1:]
    pairs = max(1, sum(max(0, len(row) - 1) for row in replies))
    centre = float(drawn.mean())
    return PermutationTest(
        (seen - centre) / pairs, _p(abs(seen - centre), np.abs(drawn - centre)), int(np.argmax(parts))
    )


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


def _rows(replies: Sequence[int], generator: np.random.Generator, rounds: int) -> NDArray[np.int64]:
    """Return the replies as they were, and in drawn orders, a row each."""
    row = np.asarray(replies, dtype=np.int64)
    return np.vstack([row, generator.permuted(np.tile(row, (rounds, 1)), axis=1)])


def _distance(rows: NDArray[np.int64], cut: int, power: int = 1) -> Floats:
    """Return the sum of differences of frequencies on both sides of a cut, to a power, times the number of replies."""
    size = rows.shape[1]
    if not 0 < cut < size:
        return np.zeros(len(rows))
    total: Floats = np.zeros(len(rows))
    for action in np.unique(rows[0]):
        hits = rows == action
        total += np.abs(hits[:, :cut].mean(axis=1) - hits[:, cut:].mean(axis=1)) ** power
    result: Floats = size * total
    return result


def _p(seen: float, drawn: Floats) -> float:
    """Return `(found + 1) / (rounds + 1)` (Phipson and Smyth 2010)."""
    # an order with the same statistic counts as found, though its sum may differ in the last digit
    return (int((drawn >= seen - 1e-9).sum()) + 1) / (len(drawn) + 1)
