"""Who is told how far a run is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Progress = Callable[[int, int, Mapping[str, float]], None]
"""Told after every step: which it was, of how many, and what was seen."""


def nobody(step: int, steps: int, figures: Mapping[str, float]) -> None:
    """Is told, and does nothing."""
