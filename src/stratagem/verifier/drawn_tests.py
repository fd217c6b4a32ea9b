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
_AGAIN = 100
"""Draws of the drawn orders by which the error of a p is known to a tenth."""
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


def _best_of(totals: Floats) -> tuple[Floats, MonteCarlo]:
    """Return the scores of statistics, a row each with the true order first, and the p of the largest.

    Each is scored by its mean and spread over the drawn orders. Their error adds to that of the p, so that the error is
    taken from the drawn orders drawn again (bootstrap).
    """
    drawn = totals[:, 1:]
    spread = drawn.std(axis=1, keepdims=True)
    scores: Floats = (totals - drawn.mean(axis=1, keepdims=True)) / np.where(spread < 1e-9, np.inf, spread)
    again = np.random.default_rng().integers(0, ORDERS, (_AGAIN, ORDERS)) + ORDERS * np.arange(_AGAIN)[:, None]
    times = np.bincount(again.ravel(), minlength=_AGAIN * ORDERS).reshape(_AGAIN, ORDERS)
    near = _p_of(scores[:, 0].max(), scores[:, 1:].max(axis=0))
    reach = WIDTH * math.sqrt(2.0) * float(_best_ps(totals, times).std())
    middle = float(_best_ps(totals, np.ones((1, ORDERS)))[0])
    return scores, MonteCarlo(max(0.0, min(near.low, middle - reach)), min(1.0, max(near.high, middle + reach)))


def _best_ps(totals: Floats, times: NDArray[Any]) -> Floats:
    """Return the p of the largest score by how often each drawn order counts, a row for each sample of them."""
    centred = totals - totals[:, 1:].mean(axis=1, keepdims=True)  # by which squares keep their digits
    drawn = centred[:, 1:]
    means = times @ drawn.T / ORDERS
    spreads = np.sqrt(np.maximum(times @ (drawn**2).T / ORDERS - means**2, 0.0))
    flat = spreads < 1e-9
    best = ((centred[:, 0] - means) / np.where(flat, np.inf, spreads)).max(axis=1, keepdims=True) - 1e-9
    least = np.where(flat, np.where(best > 0.0, np.inf, -np.inf), means + best * spreads)
    hits = (drawn >= least[:, :, None]).any(axis=1)
    return np.asarray((hits * times).sum(axis=1) / ORDERS)


def change_test(actions: Rows) -> dict[str, Known]:
    """Test early replies against late ones, for the best of five cuts; the value is that of a cut."""
    drawn, shares = np.random.default_rng(), (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
    squares, apart = np.zeros((len(shares), 1 + ORDERS)), np.zeros(len(shares))
    for row in actions:
        found = _apart(_orders(row, drawn), [max(1, round(share * len(row))) for share in shares])
        squares += found[0]
        apart += found[1] / 2
    scores, p = _best_of(squares)
    total = max(1, sum(map(len, actions)))
    near = apart[scores[:, 0] >= scores[:, 0].max() * (1.0 - WIDTH / math.sqrt(ORDERS)) - 0.2] / total
    value = tuple(map(float, near))
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
