"""Effects of a factorial design of two levels, from all cells or from a fraction of them (Box, Hunter and Hunter 2005).

A cell has the level -1 or 1 of each factor. A *word* is a set of factors, whose sign in a cell is the product of their
levels. The effect of a word is the mean over the cells in which its sign is 1, less the mean over those in which it is
-1. So a main effect is the change from the low to the high level, over the levels of all other factors, and an
interaction of two factors is half of what the effect of one changes by with the other. If a figure is
`c + sum over words of b * sign`, the effect of a word is 2 b.

In a fraction, words whose signs are equal in all cells have the same effect, and those whose signs are opposite the
negative one: they are aliased. With the generator D = -ABC the product of all signs is -1, so the cells are those in
which one factor is high, or all but one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from statistics import fmean

Cell = tuple[int, ...]
"""Level of each factor, -1 or 1."""
Word = tuple[int, ...]
"""Ascending numbers of factors."""


def all_cells(factors: int) -> tuple[Cell, ...]:
    """Return all cells, the last factor first to change."""
    return tuple(product((-1, 1), repeat=factors))


def half_fraction(factors: int) -> tuple[Cell, ...]:
    """Return the cells in which the last factor is minus the product of the others, D = -ABC for four of them."""
    return tuple(cell for cell in all_cells(factors) if cell[-1] == -prod(cell[:-1]))


def words(factors: int, sizes: Sequence[int] = ()) -> Iterator[Word]:
    """Yield the words of some numbers of factors, or all of them, the shortest first."""
    for size in sizes or range(1, factors + 1):
        yield from combinations(range(factors), size)


def sign(word: Word, cell: Cell) -> int:
    """Return the sign of a word in a cell."""
    return prod(cell[factor] for factor in word)


def effect(figures: Mapping[Cell, float], word: Word) -> float:
    """Return the effect of a word on a figure of each cell of a design."""
    high, low = ([value for cell, value in figures.items() if sign(word, cell) == side] for side in (1, -1))
    if len(high) != len(low):
        raise ValueError(
            f"The word {word} has the sign 1 in {len(high)} cells and -1 in {len(low)}: a cell is missing."
        )
    return fmean(high) - fmean(low)


def aliases(cells: Sequence[Cell]) -> dict[Word, tuple[tuple[int, Word], ...]]:
    """Return by word the other words that have its effect in these cells, each with the sign of the effect."""
    columns = {word: tuple(sign(word, cell) for cell in cells) for word in words(len(cells[0]))}
    return {
        word: tuple(
            (side, other)
            for other, signs in columns.items()
            for side in (1, -1)
            if other != word and signs == tuple(side * value for value in own)
        )
        for word, own in columns.items()
    }
