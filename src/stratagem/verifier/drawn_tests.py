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
    own = np.asarray(row, dtype=np.int64)
    return np.vstack([own, drawn.permuted(np.tile(own, (ORDERS, 1)), axis=1)])


def _apart(rows: NDArray[np.int64], cut: int, power: int) -> Floats:
    """Return the summed difference of frequencies on both sides of a cut, to a power, times the number of replies."""
    if not 0 < cut < rows.shape[1]:
        return np.zeros(len(rows))
    hits = (rows[None] == np.unique(rows[0])[:, None, None]).astype(float)
    sides = np.abs(hits[:, :, :cut].mean(axis=2) - hits[:, :, cut:].mean(axis=2)) ** power
    return np.asarray(rows.shape[1] * sides.sum(axis=0))


def _p_of(seen: float, drawn: Floats) -> MonteCarlo:
    return around_p((int((drawn >= seen - 1e-9).sum()) + 1) / (len(drawn) + 1), len(drawn))


def _best_of(totals: Floats) -> tuple[Floats, MonteCarlo]:
    """Return the scores of statistics, a row each with the true order first, and the p of the largest.

    Each is scored by its mean and spread over the drawn orders. Their error adds to that of the p, so that the error is
    taken from the drawn orders drawn again (bootstrap).
    """
    generator, drawn = np.random.default_rng(), totals[:, 1:]

    def score(orders: Floats, what: Floats) -> Floats:
        spread = orders.std(axis=1, keepdims=True)
        scores: Floats = (what - orders.mean(axis=1, keepdims=True)) / np.where(spread < 1e-9, np.inf, spread)
        return scores

    def p_of(orders: Floats) -> float:
        return float((score(orders, orders).max(axis=0) >= score(orders, totals[:, :1]).max() - 1e-9).mean())

    again = np.std([p_of(drawn[:, generator.integers(0, ORDERS, ORDERS)]) for _ in range(_AGAIN)])
    scores = score(drawn, totals)
    near, reach = _p_of(scores[:, 0].max(), scores[:, 1:].max(axis=0)), WIDTH * math.sqrt(2.0) * float(again)
    middle = p_of(drawn)
    return scores, MonteCarlo(max(0.0, min(near.low, middle - reach)), min(1.0, max(near.high, middle + reach)))


def change_test(actions: Rows) -> dict[str, Known]:
    """Test early replies against late ones, for the best of five cuts; the value is that of a cut."""
    drawn, shares = np.random.default_rng(), (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
    squares, apart = np.zeros((len(shares), 1 + ORDERS)), np.zeros(len(shares))
    for row in actions:
        rows = _orders(row, drawn)
        for place, share in enumerate(shares):
            cut = max(1, round(share * len(row)))
            squares[place] += _apart(rows, cut, 2)
            apart[place] += _apart(rows[:1], cut, 1)[0] / 2
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
        for action in set(row) if len(set(row)) > 1 else ():
            hits = (rows == action).astype(float)
            for place, factor in enumerate(fading):
                past, weight = np.zeros(len(rows)), 0.0
                for column in range(1, rows.shape[1]):
                    past, weight = factor * past + hits[:, column - 1], factor * weight + 1.0
                    totals[place] += hits[:, column] * past / (weight * hits[0].mean())
    pairs = max(1, sum(max(0, len(row) - 1) for row in actions))
    value, reach = (equal[0] - equal[1:].mean()) / pairs, WIDTH * math.sqrt(2.0 / ORDERS) * equal[1:].std() / pairs
    _, p = _best_of(np.vstack([totals, -totals]))  # in either direction
    return {"value": MonteCarlo(value - reach, value + reach), "p": p, "n": sum(map(len, actions))}


def differ_test(first: Rows, second: Rows) -> dict[str, Known]:
    """Test the replies in two settings for one policy."""
    drawn, squares, apart, total = np.random.default_rng(), np.zeros(1 + ORDERS), 0.0, 0
    for one, two in zip(first, second, strict=True):
        rows = _orders([*one, *two], drawn)
        squares += _apart(rows, len(one), 2) * len(one) * len(two) / max(1, rows.shape[1]) ** 2
        if one and two:
            apart, total = apart + float(_apart(rows[:1], len(one), 1)[0]) / 2, total + rows.shape[1]
    count = sum(map(len, first)) + sum(map(len, second))
    return {"value": apart / max(1, total), "p": _p_of(squares[0], squares[1:]), "n": count}


def sign_flips(gaps: Floats) -> MonteCarlo:
    """Test differences for a mean of 0 by their signs: by all patterns where there are at most 10,000, or by draws."""
    n, exact = len(gaps), 2 ** len(gaps) <= SIGNS
    drawn = np.arange(2**n)[:, None] >> np.arange(n) if exact else np.random.default_rng().integers(0, 2, (SIGNS, n))
    sums = np.abs(np.where(drawn & 1, 1.0, -1.0) @ gaps)
    found = int((sums >= abs(gaps.sum()) - 1e-9 * np.abs(gaps).sum()).sum())
    return MonteCarlo(found / 2**n, found / 2**n) if exact else around_p((found + 1) / (SIGNS + 1), SIGNS)
