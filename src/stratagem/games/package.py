"""Declaration of a game with all its parts: rules, safety, players, reasons of demonstrators, and face.

The tables of the parts read it: `GAMES`, `SAFETY`, `PLAYERS`, `REASONERS` and `FACES`. The games that come with
Stratagem are declared in `games.packages`. Another package names its declaration in the group `stratagem.games`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Literal

Places = str | Mapping[str, str]
"""Place where a part is defined, as `module:NAME`, or places by name or family of games."""
PartKind = Literal["safety", "players", "reasons", "face"]


@dataclass(frozen=True)
class GamePackage:
    """Parts of a game by their places; an empty place is a part that the game does not have.

    A place is a text, since a part may import what the rules must not: it is loaded by the table that reads it. A
    single place holds for all games of the package.
    """

    name: str
    """Name of the game and of its family."""
    rules: Places
    """Class of the game; or classes and functions by name, as a mapping of places or at one place."""
    safety: Places = ""
    """Subclass of `Safety`: pools, demonstrators and safety signals."""
    players: Places = ""
    """Mapping from names to the classes or functions that make players."""
    reasons: Places = ""
    """Mapping from demonstrators to the functions that give the reasons of their actions."""
    face: Places = ""
    """Subclass of `GameFace`: the board in `stratagem view`."""

    def games(self) -> dict[str, Callable[..., Any]]:
        """Load the classes and functions that make the games, by name."""
        found = self._load(self.rules)
        several = found.get(self.name)
        return dict(several) if isinstance(several, Mapping) else found

    def parts(self, kind: PartKind) -> dict[str, Any]:
        """Load the parts of a kind, by name or family of games."""
        return self._load(getattr(self, kind))

    def part_of(self, kind: PartKind, name: str, family: str) -> Any:
        """Load the part of one game; None where it has none."""
        places: Places = getattr(self, kind)
        place = places if isinstance(places, str) else places.get(name) or places.get(family, "")
        return resolve_name(place) if place else None

    def _load(self, places: Places) -> dict[str, Any]:
        by_name = {self.name: places} if isinstance(places, str) else places
        return {name: resolve_name(place) for name, place in by_name.items() if place}
