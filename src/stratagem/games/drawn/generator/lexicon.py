"""Words and numbers of a drawn game: generated words that no known game has, each used once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from stratagem.games.disguise.invention import invent
from stratagem.games.drawn.items import DealtItem
from stratagem.games.key import Key

T = TypeVar("T")
_WORDS = 48


class Lexicon:
    """Source of the draws of one sketch: each asks for a name of its own, so that it does not move the others."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self._words = iter(invent(_WORDS, key.at("words")))

    def within(self, key: Key) -> Lexicon:
        """Return a source of other draws, which uses words that this one has not used."""
        part = object.__new__(Lexicon)
        part.key, part._words = key, self._words
        return part

    def word(self) -> str:
        """Return the next word, for a thing or a choice."""
        return next(self._words)

    def action(self) -> str:
        """Return the next word, for an action."""
        return next(self._words).upper()

    def actions(self, number: int) -> tuple[str, ...]:
        """Return so many words for actions."""
        return tuple(self.action() for _ in range(number))

    def whole(self, what: str, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`."""
        return low + self.key.at(what).integer(high - low + 1)

    def one(self, what: str, options: Sequence[T]) -> T:
        """Draw one of some options."""
        return options[self.key.at(what).integer(len(options))]

    def chance(self, what: str, percent: int) -> bool:
        """Draw true with a probability in percent."""
        return self.key.at(what).integer(100) < percent

    def rising(self, what: str, number: int, low: int, high: int) -> tuple[int, ...]:
        """Draw so many different whole numbers, from the smallest to the largest."""
        left = list(range(low, high + 1))
        return tuple(sorted(left.pop(self.key.at(what, place).integer(len(left))) for place in range(number)))

    def values(self, what: str, number: int, *, numbers: bool | None = None) -> tuple[str | int, ...]:
        """Draw the values of an item: numbers, or names where `numbers` is not asked for."""
        if numbers or (numbers is None and self.chance(f"{what} numbers", 50)):
            return self.rising(what, number, 1, 9)
        return tuple(self.word() for _ in range(number))

    def item(
        self, what: str, number: int, *, numbers: bool | None = None, again: bool = False, copies: int = 1
    ) -> DealtItem:
        """Draw an item with so many values."""
        return DealtItem(
            name=self.word(), values=self.values(what, number, numbers=numbers), copies=copies, again=again
        )
