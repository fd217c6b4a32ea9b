"""Tests by permutation, written again, and the range in which another one's drawn figures lie.

A drawn figure, as a p of a permutation test, is known up to the error of its draws. `MonteCarlo` is the range that five
standard errors of the draws of both sides allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.verifier.small_tree import Floats

ORDERS, DRAWS, SIGNS = 1_999, 19_999, 10_000
"""Draws of the audit's tests by permutation, of its limits by simulation, and of signs; as many are drawn here."""
WIDTH = 5.0
"""Standard errors of both sides' draws within which two drawn figures agree: 1 in 2 million differs by chance."""
Rows = Sequence[Sequence[int]]


class MonteCarlo(NamedTuple):
    """Range in which a drawn figure lies."""

    low: float
    high: float


Known = float | int | bool | None | MonteCarlo | tuple[float, ...]


def agrees(card: Any, known: Known) -> bool:
    """Return whether a number of a card is the recomputed one, up to rounding or to the error of draws."""
    if isinstance(known, MonteCarlo):
        return isinstance(card, int | float) and known.low - 1e-9 <= card <= known.high + 1e-9
    if isinstance(known, tuple):
        if isinstance(card, list):
            return len(card) == len(known) and all(map(agrees, card, known))
        return any(agrees(card, one) for one in known)
    if known is None or isinstance(known, bool) or card is None:
        return card is known
    return isinstance(card, int | float) and math.isclose(card, known, rel_tol=1e-6, abs_tol=1e-9)


def around_p(p: float, draws: int) -> MonteCarlo:
    """Return the range of another p of the same test, by the binomial error of both numbers of draws."""
    reach = WIDTH * math.sqrt(2.0 * max(p * (1.0 - p), 1.0 / draws) / draws)
    return MonteCarlo(max(0.0, p - reach), min(1.0, p + reach))


def around_quantile(draws: Floats, level: float) -> MonteCarlo:
    """Return the range of a quantile of other draws."""
    reach = WIDTH * math.sqrt(2.0 * level * (1.0 - level) / len(draws))
    return MonteCarlo(*(float(np.quantile(draws, q)) for q in (max(0.0, level - reach), level + reach)))


def _orders(row: Sequence[int], drawn: np.random.Generator) -> NDArray[np.int64]:
    own = np.tile(np.asarray(row, dtype=np.int64), (1 + ORDERS, 1))
    if len(set(row)) > 1:  # equal replies in any order are the same
        own[1:] = drawn.permuted(own[1:], axis=1)
    return own


def _apart(rows: NDArray[np.int64], cuts: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the summed differences of frequencies on both sides of each cut, times the number of replies.

    These are the squared ones for each order, and the plain ones for the first. A cut beside all replies has none.
    """
    size, squares, plain = rows.shape[1], np.zeros((len(cuts), len(rows))), np.zeros(len(cuts))
    valid = [place for place, cut in enumerate(cuts) if 0 < cut < size]
    early = np.array([cuts[place] for place in valid])
    hits = (rows[None] == np.unique(rows[0])[:, None, None]).astype(float)
    below = hits @ (np.arange(size)[:, None] < early).astype(float)
    gaps = np.abs(below / early - (hits.sum(axis=2, keepdims=True) - below) / (size - early))
    squares[valid] = size * (gaps**2).sum(axis=0).T
    plain[valid] = size * gaps[:, 0].sum(axis=0)
    return squares, plain


def _p_of(seen: float, drawn: Floats) -> MonteCarlo:
    return around_p((int((drawn >= seen - 1e-9).sum()) + 1) / (len(drawn) + 1), len(drawn))


def _best_of(totals: Floats) -> tuple[NDArray[np.bool_], MonteCarlo]:
    """Return which statistics, a row each with the true order first, may have the largest score, and the p of it.

    Each is scored by its mean and spread over the drawn orders. Other orders have others, so that scores of two rows
    that lie close may change places; within a row they cannot.
    """
    drawn = totals[:, 1:]
    spread = drawn.std(axis=1, keepdims=True)
    scores: Floats = (totals - drawn.mean(axis=1, keepdims=True)) / np.where(spread < 1e-9, np.inf, spread)
    gaps = scores[:, None, :] - scores[None, :, :1]  # of an order's row to a row of the true order
    reach = WIDTH * math.sqrt(2.0) * _gap_errors(scores)
    counts = (int((gaps[..., 1:] >= sign * reach[..., 1:] - 1e-9).all(axis=1).any(axis=0).sum()) for sign in (1, -1))
    least, most = (around_p((count + 1) / (1 + ORDERS), ORDERS) for count in counts)
    return np.asarray((gaps[..., 0] >= -reach[..., 0]).all(axis=1)), MonteCarlo(least.low, most.high)


def _gap_errors(scores: Floats) -> Floats:
    """Return the standard errors of the score of each row and order less the true order's score of each row.

    By the delta method: with z the scores of the drawn orders, the mean moves a score x by the mean of -z, and the
    spread moves it by the mean of -x (z^2 - 1) / 2.
    """
    z = scores[:, 1:]
    moved = (z**2 - (z**2).mean(axis=1, keepdims=True)) / 2.0
    mean, mixed, spread = z @ z.T / ORDERS, z @ moved.T / ORDERS, moved @ moved.T / ORDERS
    here, there = scores[:, None, :], scores[None, :, :1]
    own = [np.diag(one)[:, None] for one in (mean, mixed, spread)]
    lone = own[0] + 2.0 * scores * own[1] + scores**2 * own[2]
    shared = mean[..., None] + there * mixed[..., None] + here * mixed.T[..., None] + here * there * spread[..., None]
    variance = np.maximum(lone[:, None, :] + lone[None, :, :1] - 2.0 * shared, 0.0)
    variance[np.diag_indices(len(scores))] = 0.0  # the order within a row is sure
    return np.asarray(np.sqrt(variance / ORDERS))


def change_test(actions: Rows) -> dict[str, Known]:
    """Test early replies against late ones, for the best of five cuts; the value is that of a cut."""
    drawn, shares = np.random.default_rng(), (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
    squares, apart = np.zeros((len(shares), 1 + ORDERS)), np.zeros(len(shares))
    for row in actions:
        found = _apart(_orders(row, drawn), [max(1, round(share * len(row))) for share in shares])
        squares += found[0]
        apart += found[1] / 2
    best, p = _best_of(squares)
    total = max(1, sum(map(len, actions)))
    value = tuple(map(float, apart[best] / total))
    return {"value": value, "p": p, "n": sum(map(len, actions))}


def sequence_test(actions: Rows) -> dict[str, Known]:
    """Test each reply against earlier ones to the same question; the value is the share of equal neighbours."""
    drawn, fading = np.random.default_rng(), (0.0, 0.8, 1.0)
    totals, equal = np.zeros((len(fading), 1 + ORDERS)), np.zeros(1 + ORDERS)
    for row in actions:
        rows = _orders(row, drawn)
        equal += (rows[:, 1:] == rows[:, :-1]).sum(axis=1)
        ages = np.subtract.outer(np.arange(len(row)), np.arange(len(row)))
        for action in set(row) if len(set(row)) > 1 else ():
            hits = (rows == action).astype(float)
            for place, factor in enumerate(fading):
                weights = np.where(ages > 0, factor ** np.maximum(ages - 1.0, 0.0), 0.0)  # row: of all earlier replies
                weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
                totals[place] += (hits @ weights.T * hits).sum(axis=1) / hits[0].mean()
    pairs = max(1, sum(max(0, len(row) - 1) for row in actions))
    value, reach = (equal[0] - equal[1:].mean()) / pairs, WIDTH * math.sqrt(2.0 / ORDERS) * equal[1:].std() / pairs
    _, p = _best_of(np.vstack([totals, -totals]))  # in either direction
    return {"value": MonteCarlo(value - reach, value + reach), "p": p, "n": sum(map(len, actions))}


def differ_test(first: Rows, second: Rows) -> dict[str, Known]:
    """Test the replies in two settings for one policy."""
    drawn, squares, apart, total = np.random.default_rng(), np.zeros(1 + ORDERS), 0.0, 0
    for one, two in zip(first, second, strict=True):
        rows = _orders([*one, *two], drawn)
        found = _apart(rows, [len(one)])
        squares += found[0][0] * len(one) * len(two) / max(1, rows.shape[1]) ** 2
        if one and two:
            apart, total = apart + float(found[1][0]) / 2, total + rows.shape[1]
    count = sum(map(len, first)) + sum(map(len, second))
    return {"value": apart / max(1, total), "p": _p_of(squares[0], squares[1:]), "n": count}


def sign_flips(gaps: Floats) -> MonteCarlo:
    """Test differences for a mean of 0 by their signs: by all patterns where there are at most 10,000, or by draws."""
    n, exact = len(gaps), 2 ** len(gaps) <= SIGNS
    drawn = np.arange(2**n)[:, None] >> np.arange(n) if exact else np.random.default_rng().integers(0, 2, (SIGNS, n))
    sums = np.abs(np.where(drawn & 1, 1.0, -1.0) @ gaps)
    found = int((sums >= abs(gaps.sum()) - 1e-9 * np.abs(gaps).sum()).sum())
    return MonteCarlo(found / 2**n, found / 2**n) if exact else around_p((found + 1) / (SIGNS + 1), SIGNS)
