"""Checks of numeric options of games and players: one sentence for each invalid value."""

from __future__ import annotations

import sys
from math import inf
from typing import TypeGuard

from stratagem.base.errors import BadParameter


def whole(owner: str, option: str, value: object, low: int) -> None:
    """Refuse anything but a whole number of at least `low`, and one that no list can have as its length."""
    if type(value) is not int or value < low:
        raise BadParameter(f"{owner} needs `{option}` of at least {low}, a whole number, not {value!r}.")
    if value > sys.maxsize:
        raise BadParameter(f"{owner} needs `{option}` of at most {sys.maxsize}, not {value}.")


def check_seed(seed: object) -> None:
    """Refuse a seed that is no whole number."""
    if type(seed) is not int:
        raise BadParameter(f"A seed is a whole number, not {seed!r}.")


def within(owner: object, option: str, value: object, low: float, high: float = inf) -> None:
    """Refuse anything but a number from `low` to `high`; without `high` any finite number from `low` on is valid.

    `owner` is a name, or an object that is called by its class; None where the setting around it has the name.
    """
    if is_number(value) and low <= value <= high:
        return
    wanted = f"of at least {low:g}" if high == inf else f"from {low:g} to {high:g}"
    if owner is None:
        raise BadParameter(f"`{option}` must be a number {wanted}, not {value!r}.")
    called = owner if isinstance(owner, str) else type(owner).__name__
    raise BadParameter(f"{called} needs `{option}` {wanted}, a number, not {value!r}.")


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a finite number; true and false are none."""
    return isinstance(value, int | float) and type(value) is not bool and -inf < value < inf
