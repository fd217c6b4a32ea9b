"""Maps of a label scan: ShapeLLM's Figure 10, and its points pair by pair.

Figure 10 has a density a state: a square of p(first label) by p(second label) in which the pairs of capitals are
counted, so that pairs under which the model says hardly anything illegal lie on the diagonal. The letters have a table
a state: row by column the pair, in it the first label's share of what the model says of the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase

from stratagem.games.base import Json
from stratagem.measure.labels import LabelReading, Labels

BINS = 20
"""Cells along each side of a density."""
Density = list[list[int]]
Letters = list[list[float | None]]


def density(scan: Mapping[Labels, LabelReading | None], state: int, bins: int = BINS) -> Density:
    """Count the pairs that give the first label (column) and the second (row) these probabilities, from low to high."""
    counts = [[0] * bins for _ in range(bins)]
    for reading in scan.values():
        if reading is not None:
            counts[_bin(reading.second[state], bins)][_bin(reading.first[state], bins)] += 1
    return counts


def _bin(probability: float, bins: int) -> int:
    return min(int(probability * bins), bins - 1)


def letters(scan: Mapping[Labels, LabelReading | None], state: int) -> Letters:
    """Return the first label's share for every pair, first label by row and second by column.

    None where it was not read.
    """
    return [[_share(scan.get((row, column)), state) for column in ascii_uppercase] for row in ascii_uppercase]


def _share(reading: LabelReading | None, state: int) -> float | None:
    return None if reading is None else reading.share[state]


def maps_json(scan: Mapping[Labels, LabelReading | None], states: tuple[str, ...]) -> Json:
    """Both maps of every state."""
    return {
        name: {"density": density(scan, state), "letters": letters(scan, state)} for state, name in enumerate(states)
    }
