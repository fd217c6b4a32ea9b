"""Cells of the simulated logs: where limits cover in 94 to 97 %, and where they do not.

`experiments/log_coverage.py` simulates 10,000 logs a cell, and docs/results/log-coverage.json has every figure. A test
compares the table here with that file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stratagem.measure.logs.limits import Outcomes

ITEMS = (30, 100, 1000)
CLUSTERS = (0, 8, 30)
"""Numbers of clusters that were simulated; 0 is a cluster for every item."""
GOAL, MOST_REJECTED = (0.94, 0.97), 0.055


class SimulatedCell(NamedTuple):
    """Kind of logs that were simulated."""

    outcomes: Outcomes
    items: int
    clusters: int
    """Number of clusters; 0 where every item is its own."""
    beyond: str = ""
    """Clause on why a log lies outside of all that was simulated; empty where it does not."""


class CellErrors(NamedTuple):
    """Simulated figures of a cell."""

    covers: float
    """Share of logs whose limits hold the true difference."""
    rejects: float
    """Share of logs in which a true null is rejected after Holm's correction over three."""


OUTSIDE: Mapping[tuple[str, int, int], CellErrors] = {
    ("sparse", 30, 0): CellErrors(0.9702, 0.0027),
    ("skewed", 100, 8): CellErrors(0.9568, 0.0584),
}
"""Cells whose coverage is outside of the goal, or whose rejections are more than 5.5 %: the rest is chance."""


def cell_of(outcomes: Outcomes, items: int, clusters: int) -> SimulatedCell:
    """Return the cell that a log falls into: the next smaller number of items and of clusters."""
    beyond = f"only {items} items" if items < ITEMS[0] else ""
    known = 0
    if clusters < items:
        beyond = f"only {clusters} clusters" if clusters < CLUSTERS[1] else beyond
        known = max((count for count in CLUSTERS[1:] if count <= clusters), default=CLUSTERS[1])
    return SimulatedCell(outcomes, max((count for count in ITEMS if count <= items), default=ITEMS[0]), known, beyond)


def warning_of(cell: SimulatedCell) -> str:
    """Return a sentence where limits were not simulated, or cover in another share of logs than the goal."""
    if cell.beyond:
        return f"there are {cell.beyond}, with which limits were not simulated: they may cover in fewer than 95 %."
    found = OUTSIDE.get(cell[:3])
    if found is None:
        return ""
    groups = f" in {cell.clusters} clusters" if cell.clusters else ""
    return (
        f"with {cell.outcomes} differences of {cell.items} items{groups}, limits of 95 % held in {found.covers:.1%} of "
        f"simulated logs, and Holm's correction at 5 % rejected true nulls in {found.rejects:.1%}."
    )
