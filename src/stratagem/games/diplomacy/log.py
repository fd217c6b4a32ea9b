"""The log of a game of Diplomacy: who ordered what, phase by phase, and what came of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

Log = tuple[tuple[str, tuple[tuple[str, str, tuple[str, ...]], ...]], ...]
"""Orders and results phase by phase; the list of words is empty where the order succeeded."""


def is_log(log: Any, powers: Collection[str]) -> bool:
    """Return whether parsed JSON has the shape of a log."""
    try:
        rows = [(power, (line, *codes)) for _, lines in log for power, line, codes in lines]
        phases, powers_named = [phase for phase, _ in log], {power for power, _ in rows}
    except (TypeError, ValueError):
        return False
    words = [*phases, *(word for _, orders in rows for word in orders)]
    return isinstance(log, tuple) and powers_named <= {*powers} and all(type(w) is str for w in words)
