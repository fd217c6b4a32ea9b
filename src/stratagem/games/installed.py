"""Games of other packages by name: an entry point leads to the rules, or to the declaration of all parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import EntryPoint
from typing import Any, NamedTuple

from stratagem.base.errors import BrokenEntry
from stratagem.base.registry import Registry
from stratagem.games.base import Game
from stratagem.games.package import GamePackage, PartKind

DECLARE = "declare it in a GamePackage, which the group stratagem.games names"
"""Replacement of the entry-point groups of single parts."""


class InstalledPart(NamedTuple):
    """Part of a game that an installed package declares."""

    entry: EntryPoint
    part: Any


class GameRegistry(Registry[Game[Any]]):
    """Registry of games that keeps the declarations of installed packages.

    A package is loaded when one of its games is asked for, and a part of it when a table asks for that part.
    """

    def __init__(self, table: Mapping[str, Callable[..., Game[Any]]], group: str, forms: Sequence[str]) -> None:
        super().__init__("game", table, group, Game, forms=forms)
        self._packages: dict[str, GamePackage] = {}

    def part(self, kind: PartKind, game: Game[Any]) -> InstalledPart | None:
        """Return a part of a game from the declaration of its package; None of a game without one."""
        name = game.spec.name
        if name not in self.entries:
            return None
        self.factory(name)
        package, entry = self._packages.get(name), self.entries[name]
        try:
            found = package.part_of(kind, name, game.spec.family) if package else None
        except Exception as error:  # code of another package may raise anything
            raise BrokenEntry(kind, entry, error) from error
        return None if found is None else InstalledPart(entry, found)

    def _open_entry(self, entry: EntryPoint) -> Callable[..., Game[Any]]:
        found = entry.load()
        if not isinstance(found, GamePackage):
            return found  # type: ignore[no-any-return]
        games = found.games()
        if entry.name not in games:
            raise LookupError(f"it declares {', '.join(games)}, and not {entry.name}")
        self._packages[entry.name] = found
        return games[entry.name]
