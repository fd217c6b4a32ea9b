"""Coasts in supports: what counts where a support names another coast than the move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

Coasts = Literal["named", "package"]
"""Rule for the support of a fleet's move that names another coast than the move.

`named`: it is void, as the Diplomacy Adjudicator Test Cases (Kruijswijk 2009) prefer in case 6.B.9.
`package`: it counts if a fleet gives it, as in games of the package `diplomacy`, which drops the coast from such an
order when it reads one. An army's support keeps its coast there, so it is void under both rules.
"""


def orders_as_read(orders: Mapping[str, Sequence[str]], coasts: Coasts) -> Mapping[str, Sequence[str]]:
    """Return the orders by power as the rule reads them; a support without a coast counts for every coast."""
    return {power: lines_as_read(lines, coasts) for power, lines in orders.items()}


def lines_as_read(lines: Sequence[str], coasts: Coasts) -> Sequence[str]:
    """Return some orders as the rule reads them."""
    return lines if coasts == "named" else [_without_coast(line) for line in lines]


def _without_coast(line: str) -> str:
    """Drop the coast to which a fleet supports a fleet: `F POR S F MAO - SPA/NC` is read as `F POR S F MAO - SPA`."""
    words = line.split()
    if len(words) == 7 and words[0] == words[3] == "F" and words[2] == "S":
        words[-1] = words[-1].partition("/")[0]
    return " ".join(words)
