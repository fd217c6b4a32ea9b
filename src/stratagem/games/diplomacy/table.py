"""Parameters of a game of Diplomacy: the map, the powers at the table, the last year, and the rule of coasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, get_args

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.base import Game
from stratagem.games.diplomacy.coasts import Coasts
from stratagem.games.diplomacy.engine import STANDARD, centers_of, first_year_of, maps, powers_of
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.diplomacy.fast.compiled import is_compiled

_YEARS = 99
"""Most years of a game: in the hundredth the engine ends it as a draw, and loses the results of the orders."""


@dataclass(frozen=True, kw_only=True)
class DiplomacyTable(Game[DiplomacyFacts]):
    """Diplomacy without its rules: what a state of the game needs to know."""

    largest: ClassVar = {"until": 9999}

    until: int = 1905
    """The year whose Fall count ends the game; a game has at most 99 years."""
    only: Sequence[str] = ()
    """The powers that have a seat; all others are in civil disorder: their units hold. None are all."""
    map: str = STANDARD
    """The map, as the engine names it."""
    judged: bool = True
    """True if each order is classified; where a support helped, that plays the phase once more."""
    coasts: Coasts = "named"
    """Rule for a fleet's support that names another coast than the move: void (named), or valid (package)."""

    def __post_init__(self) -> None:
        if not isinstance(self.only, tuple | list) or not all(isinstance(name, str) for name in self.only):
            raise BadParameter("Diplomacy needs `only` as a list of powers, such as [FRANCE, GERMANY].")
        object.__setattr__(self, "only", tuple(self.only))
        if not isinstance(self.map, str):
            raise BadParameter(f"Diplomacy needs `map` as the name of a map, such as {STANDARD}, not {self.map!r}.")
        if self.map != STANDARD and self.map not in maps():
            raise UnknownName("map of Diplomacy", self.map, maps())
        first = first_year_of(self.map)
        if type(self.until) is not int or not first <= self.until < first + _YEARS:
            years = f"from {first} to {first + _YEARS - 1}"
            raise BadParameter(
                f"Diplomacy needs `until` {years} on the map {self.map}, a whole number, not {self.until!r}."
            )
        for name in self.only:
            if name not in powers_of(self.map):
                raise UnknownName("power on this map", name, powers_of(self.map))
        if self.only and (len(set(self.only)) != len(self.only) or len(self.only) < 2):
            raise BadParameter("Diplomacy needs at least two powers in `only`, each named once.")
        if not isinstance(self.judged, bool):
            raise BadParameter(f"Diplomacy needs `judged` as True or False, not {self.judged!r}.")
        if self.coasts not in get_args(Coasts):
            raise BadParameter(f"Diplomacy needs `coasts` as {' or '.join(get_args(Coasts))}, not {self.coasts!r}.")

    @cached_property
    def powers(self) -> tuple[str, ...]:
        """The power of each seat."""
        return tuple(self.only) or powers_of(self.map)

    @cached_property
    def is_fast(self) -> bool:
        """True if the game is played on the fast board, with the same results: all powers, the standard map, numba."""
        return self.map == STANDARD and self.powers == powers_of(STANDARD) and is_compiled()

    @cached_property
    def nothing(self) -> tuple[float, ...]:
        """A payoff of zero for every seat, before the game is over."""
        return (0.0,) * len(self.powers)

    @cached_property
    def centers(self) -> frozenset[str]:
        """All supply centres."""
        return centers_of(self.map)
