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


class Tested(NamedTuple):
    """Statistic, its p-value, and the question that contributes most."""

    value: float
    p: float
    question: int


def changed(replies: Replies, key: Key, rounds: int = _ROUNDS) -> Tested:
    """Test whether early replies differ from late ones, for the best of five places to cut.

    The value is the largest total variation between the two sides of a cut, averaged over the questions by replies.
    """
    generator = np.random.default_rng(key.at("changed").value)
    seen, drawn, parts = np.zeros(len(_SHARES)), np.zeros((len(_SHARES), rounds)), []
    for row in replies:
        one = _rows(row, generator, rounds)
        distances = np.array([_distance(one, max(1, round(share * len(row)))) for share in _SHARES])
        parts.append(distances[:, 0])
        seen += distances[:, 0]
        drawn += distances[:, 1:]
    total = max(1, sum(map(len, replies)))
    best = int(np.argmax(_standardised(seen, drawn)))
    p = _p(_standardised(seen, drawn).max(), _all_standardised(drawn).max(axis=0))
    return Tested(float(seen[best]) / total, p, int(np.argmax([part[best] for part in parts])))


def follow(replies: Replies, key: Key, rounds: int = _ROUNDS) -> Tested:
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
    return Tested((seen - centre) / pairs, _p(abs(seen - centre), np.abs(drawn - centre)), int(np.argmax(parts)))


def differ(first: Replies, second: Replies, key: Key, rounds: int = _ROUNDS) -> Tested:
    """Test whether the replies in two settings come from one policy.

    The value is the mean total variation between the frequencies, by replies; two samples of one policy have some, too.
    """
    generator = np.random.default_rng(key.at("differ").value)
    seen, drawn, parts = 0.0, np.zeros(rounds), []
    for one, other in zip(first, second, strict=True):
        if one and other:
            distances = _distance(_rows([*one, *other], generator, rounds), len(one))
            parts.append(float(distances[0] - distances[1:].mean()))
            seen += float(distances[0])
            drawn += distances[1:]
        else:
            parts.append(0.0)
    total = max(1, sum(len(one) + len(other) for one, other in zip(first, second, strict=True) if one and other))
    return Tested(seen / total, _p(seen, drawn), int(np.argmax(parts)))


def _rows(replies: Sequence[int], generator: np.random.Generator, rounds: int) -> NDArray[np.int64]:
    """Return the replies as they were, and in drawn orders, a row each."""
    row = np.asarray(replies, dtype=np.int64)
    return np.vstack([row, generator.permuted(np.tile(row, (rounds, 1)), axis=1)])


def _distance(rows: NDArray[np.int64], cut: int) -> Floats:
    """Return the total variation between both sides of a cut, times the number of replies."""
    size = rows.shape[1]
    if not 0 < cut < size:
        return np.zeros(len(rows))
    total: Floats = np.zeros(len(rows))
    for action in np.unique(rows[0]):
        hits = rows == action
        total += np.abs(hits[:, :cut].mean(axis=1) - hits[:, cut:].mean(axis=1))
    result: Floats = 0.5 * size * total
    return result


def _standardised(seen: Floats, drawn: Floats) -> Floats:
    spread = drawn.std(axis=1)
    result: Floats = (seen - drawn.mean(axis=1)) / np.where(spread == 0.0, 1.0, spread)
    return result


def _all_standardised(drawn: Floats) -> Floats:
    spread = drawn.std(axis=1, keepdims=True)
    result: Floats = (drawn - drawn.mean(axis=1, keepdims=True)) / np.where(spread == 0.0, 1.0, spread)
    return result


def _p(seen: float, drawn: Floats) -> float:
    """Return `(found + 1) / (rounds + 1)` (Phipson and Smyth 2010)."""
    return (int((drawn >= seen - 1e-9).sum()) + 1) / (len(drawn) + 1)
