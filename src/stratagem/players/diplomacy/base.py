"""Base of scripted players of Diplomacy: they write a sheet, one line for each unit or build, with their own draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game, View
from stratagem.games.choices import Sheet
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.facts import DiplomacyFacts
from stratagem.games.key import Key
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.members import PlayerBase


class Dice:
    """Random draws in order, each with its own key."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._thrown = 0

    def below(self, bound: int) -> int:
        """Draw a number from 0 to `bound` - 1."""
        self._thrown += 1
        return self._key.at(self._thrown).integer(bound)

    def shuffle_items(self, items: Iterable[str]) -> list[str]:
        """Shuffle the items."""
        left, order = list(items), []
        while left:
            order.append(left.pop(self.below(len(left))))
        return order


class Commander(PlayerBase, ABC):
    """Player of Diplomacy whose whole rule is the lines that it writes."""

    family: ClassVar[str] = "diplomacy"
    called: ClassVar[str]
    """Name in the catalogue, after `diplomacy/`."""
    traits: ClassVar[Traits] = Traits(stochastic=True, exact=False)

    @property
    def name(self) -> str:
        """Name as results show it."""
        return f"diplomacy/{self.called}"

    @abstractmethod
    def lines(self, facts: DiplomacyFacts, game: Diplomacy, dice: Dice) -> Iterable[str]:
        """Return the orders for this phase, as many as are due."""

    def turn(self, ask: Ask) -> Move:
        """Write the sheet."""
        game, facts = ask.view.game, ask.view.facts
        assert isinstance(game, Diplomacy)
        sheet = game.choices(facts)
        assert isinstance(sheet, Sheet)
        return Move(sheet.canonical(self.lines(facts, game, Dice(ask.key))))

    def policy(self, view: View[Any]) -> Mapping[str, float]:
        """Raise CannotCompute: sheets are too many to be listed with their probabilities."""
        raise CannotCompute(f"{self.name} draws its orders one after the other: its probabilities cannot be listed.")

    def check(self, game: Game[Any]) -> None:
        """Refuse any other game."""
        if not isinstance(game, Diplomacy):
            raise BadParameter(f"{self.name} plays diplomacy, not {game.spec.name}.")


def first_offered(sheet: Sheet, *wanted: str) -> str | None:
    """Return the first of these orders that the sheet offers."""
    known = {option for slot in sheet.slots for option in slot.options}
    return next((order for order in wanted if order in known), None)
