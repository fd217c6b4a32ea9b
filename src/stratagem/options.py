"""The checks of numbers that a game or a player is made with: one sentence for each that its owner cannot take."""

from __future__ import annotations

from math import inf
from typing import TypeGuard

from stratagem.errors import BadParameter


def whole(owner: str, option: str, value: object, low: int) -> None:
    """Refuse what is no whole number of at least `low`."""
    if type(value) is not int or value < low:
        raise BadParameter(f"{owner} needs `{option}` of at least {low}, a whole number, not {value!r}.")


def within(owner: object, option: str, value: object, low: float, high: float = inf) -> None:
    """Refuse what is no number from `low` to `high`; without `high` any finite number from `low` on will do."""
    if is_number(value) and low <= value <= high:
        return
    called = owner if isinstance(owner, str) else type(owner).__name__
    wanted = f"of at least {low:g}" if high == inf else f"from {low:g} to {high:g}"
    raise BadParameter(f"{called} needs `{option}` {wanted}, a number, not {value!r}.")


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite number; true and false are none."""
    return isinstance(value, int | float) and type(value) is not bool and -inf < value < inf
