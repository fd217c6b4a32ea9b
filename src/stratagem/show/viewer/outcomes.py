"""Outcomes of two arms of branches: distributions of returns, means with intervals, and the paired difference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from stratagem.games.base import Json, Seat
from stratagem.games.key import Key
from stratagem.measure.statistics import Estimate, exactly, paired_difference, students, with_interval
from stratagem.playing.records import Episode

_VALUES = 24
"""Largest number of whole numbers that are counted one by one."""
_BINS = 10


def outcomes(original: Sequence[Episode], changed: Sequence[Episode], key: Key, *, certain: bool) -> Json:
    """Return the outcomes by seat; branch k of one arm is paired with branch k of the other.

    Where nothing is random, the figures are exact, from one branch of each arm.
    """
    seats = range(len(original[0].payoffs))
    return {
        "n": len(original),
        "unfinished": sum(not episode.finished for episode in (*original, *changed)),
        "certain": certain,
        "faulty": sum(any(row.how == "error" for row in episode.decisions) for episode in (*original, *changed)),
        "seats": [_seat(original, changed, seat, key.at("seat", seat), certain) for seat in seats],
    }


def _seat(original: Sequence[Episode], changed: Sequence[Episode], seat: Seat, key: Key, certain: bool) -> Json:
    before, after = ([episode.payoffs[seat] for episode in arm] for arm in (original, changed))
    return {
        "original": _estimate(before, certain).to_json(),
        "changed": _estimate(after, certain).to_json(),
        **_difference(before, after, key, certain),
        **histogram(before, after),
    }


def _estimate(values: Sequence[float], certain: bool) -> Estimate:
    return exactly(values[0]) if certain else with_interval(values)


def _difference(before: Sequence[float], after: Sequence[float], key: Key, certain: bool) -> Json:
    """Return changed minus original over pairs, with the p-value of the sign-flip test."""
    if certain:
        return {"difference": exactly(after[0] - before[0]).to_json(), "p_value": None}
    paired = paired_difference(after, before, key)
    return {"difference": students(paired.estimate).to_json(), "p_value": paired.p_value}


def histogram(before: Sequence[float], after: Sequence[float]) -> Json:
    """Count returns of both arms: by whole numbers where they are few, else in bins of equal width."""
    values = [round(value, 9) for value in (*before, *after)]
    low, high = min(values), max(values)
    if low == high or (all(value.is_integer() for value in values) and high - low < _VALUES):
        labels = [low] if low == high else [low + step for step in range(int(high - low) + 1)]
        counts = [[sum(round(one, 9) == value for one in arm) for value in labels] for arm in (before, after)]
        return {"labels": [f"{value:.4g}" for value in labels], "counts": counts}
    edges = [low + (high - low) * place / _BINS for place in range(_BINS + 1)]
    labelled = [f"{start:.3g} to {end:.3g}" for start, end in pairwise(edges)]
    return {"labels": labelled, "counts": [_count_bins(arm, low, high) for arm in (before, after)]}


def _count_bins(values: Sequence[float], low: float, high: float) -> list[int]:
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int((value - low) / (high - low) * _BINS))] += 1
    return counts
