"""Target policies of a label scan: one probability of the first action, or one for each state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from label_record import Target

from stratagem.base.errors import BadParameter

TargetLike: TypeAlias = float | tuple[float, ...] | str
"""A probability, one for each state, or a text of them with commas."""


def as_target(given: object, states: Sequence[str]) -> Target:
    """Return one probability for every state, from one for each or one for all of them."""
    values = _numbers(given)
    if len(values) not in (1, len(states)) or not all(0.0 <= value <= 1.0 for value in values):
        raise BadParameter(
            f"A target is one probability, such as 0.75, or {len(states)} of them with commas between "
            f"({', '.join(states)}), not {given!r}."
        )
    return values if len(values) == len(states) else values * len(states)


def _numbers(given: object) -> Target:
    pieces: Sequence[Any] = (given,)
    if isinstance(given, Sequence):
        pieces = given.split(",") if isinstance(given, str) else given
    try:
        return tuple(float(piece) for piece in pieces)
    except (TypeError, ValueError):
        return ()


def told(target: Target) -> str:
    """Return a target as a text: one number where all states have the same."""
    return f"{target[0]:g}" if len(set(target)) == 1 else ", ".join(f"{value:g}" for value in target)
