"""The check of an option that a player is made with."""

from __future__ import annotations

from stratagem.errors import BadParameter


def within(owner: object, option: str, value: float, low: float, high: float) -> None:
    """Refuse an option outside its range, in one sentence."""
    if not low <= value <= high:
        raise BadParameter(f"{type(owner).__name__} needs `{option}` from {low:g} to {high:g}, not {value}.")
