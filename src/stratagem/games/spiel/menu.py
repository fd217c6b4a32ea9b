"""Legal actions of a position of an OpenSpiel game: our names beside the engine's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stratagem.games.choices import Flat


class LegalMenu(NamedTuple):
    """The legal actions of a position: the choices, and the engine's number of each."""

    choices: Flat
    ids: dict[str, int]

    def name(self, action: int) -> str:
        """Return our name for one of the engine's numbers."""
        return next(name for name, number in self.ids.items() if number == action)


def menu_of(names: Sequence[str], ids: Sequence[int]) -> LegalMenu:
    """Make a menu from the names and numbers of the legal actions, in the same order."""
    return LegalMenu(Flat(names), dict(zip(names, ids, strict=True)))
