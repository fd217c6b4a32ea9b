"""Renaming of a key: its new place in the same table, and what becomes of its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Move = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
"""From the old value, and the table that it stands in, to new values by their places in this table."""


class LostSetting(Exception):
    """Old value that no new setting has; the message says what there is no setting for."""


@dataclass(frozen=True)
class Renaming:
    """New name of a key."""

    new: str
    """New key, its place as `loss.kl_coef`, a text to write, as `loss = { ... }`, or empty where nothing is written."""
    move: Move | None = None
    """Conversion of the value; None where it stays as it is."""

    @property
    def is_key(self) -> bool:
        """True if the new name is one key, in the table of the old one."""
        return self.new.isidentifier()

    def move_value(self, value: Any, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the new values by their places; `LostSetting` where there are none."""
        return {self.new: value} if self.move is None else self.move(value, table)


@dataclass(frozen=True)
class Release:
    """Keys that one release renamed."""

    since: str
    """Release that has the new names."""
    until: str
    """Release from which on the old names are unknown, and their entries are deleted here."""
    keys: Mapping[str, Mapping[str, str | Renaming]]
    """By class of settings, loss or estimator: old key to new key, or to its renaming."""


def convert_values(new: str, values: Mapping[Any, Any], where: str = "") -> Renaming:
    """Return a renaming whose values were renamed, too; `where` is the place of the new key if `new` is a text."""

    def move(value: Any, _: Mapping[str, Any]) -> Mapping[str, Any]:
        if not isinstance(value, str | int | float) or value not in values:
            raise LostSetting(f"the value {value!r} has no new name")
        return {where or new: values[value]}

    return Renaming(new, move)


def move_value(new: str, *places: str) -> Renaming:
    """Return a renaming whose value goes to other places unchanged; `new` is the text to write."""
    return Renaming(new, lambda value, _: dict.fromkeys(places, value))
