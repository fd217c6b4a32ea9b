"""Kinds of things that a described game deals: cards, dice, and values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from stratagem.base.errors import BadParameter
from stratagem.games.counting import plural_of

_FACES = 40
"""Largest number of cards, or of different faces."""


@dataclass(frozen=True)
class DealtItem:
    """Kind of thing that is dealt: the cards of a deck, or what dice and private values show.

    Cards are dealt without replacement: there are `copies` of each value and suit. With `again` every deal shows any
    of the values, all equally likely, as a die does.
    """

    name: str = "card"
    """Name in the rules, one word in the singular."""
    values: tuple[str | int, ...] = ()
    """Values from the lowest to the highest: names, or the numbers themselves."""
    copies: int = 1
    """Number of cards of each value and suit."""
    suits: tuple[str, ...] = ()
    """Suits, written after the value: `Ja`, or `7 kora` where one of them is longer; empty for cards without suits."""
    again: bool = False
    """True if every deal shows any of the values, as a die does."""

    def __post_init__(self) -> None:
        if not is_plain_word(self.name):
            raise BadParameter(f"The item {self.name[:40]!r} needs a `name` of one plain word, such as card.")
        if not self.values or len(set(map(str, self.values))) != len(self.values):
            raise BadParameter(f"The item {self.name} needs `values` of different names, not {list(self.values)}.")
        for field, texts in (("values", map(str, self.values)), ("suits", self.suits)):
            if odd := [text for text in texts if not is_plain_word(text.removeprefix("-"))]:
                raise BadParameter(f"The item {self.name} needs `{field}` of plain names, not {odd[0][:40]!r}.")
        if len(set(self.faces)) != len(self.faces):
            raise BadParameter(f"The item {self.name} needs `suits` that make a different name of every card.")
        if len(self.faces) > _FACES or self.copies < 1 or self.copies * len(self.faces) > _FACES:
            raise BadParameter(f"The item {self.name} needs `copies` of at least 1 and at most {_FACES} cards in all.")
        if self.again and (self.copies > 1 or self.suits):
            raise BadParameter(f"The item {self.name} is drawn `again`, so it has neither `copies` nor `suits`.")
        if {isinstance(value, int) for value in self.values} == {True, False}:
            raise BadParameter(f"The item {self.name} needs `values` that are all names or all whole numbers.")
        if self.is_counted and [*self.numbers] != sorted(self.numbers):
            raise BadParameter(f"The item {self.name} needs `values` from low to high, not {list(self.values)}.")

    @cached_property
    def faces(self) -> tuple[str, ...]:
        """Names of the faces: every value in every suit, the lowest value first."""
        short = all(len(str(part)) == 1 for part in (*self.values, *self.suits))
        return tuple(f"{v}{'' if short else ' '}{suit}".strip() for v in self.values for suit in self.suits or ("",))

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Place of the value of each face, from 0."""
        return tuple(rank for rank in range(len(self.values)) for _ in self.suits or ("",))

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Number of each face: the value itself, or its place from 1 where values are names."""
        return tuple(float(v) if isinstance(v := self.values[rank], int) else rank + 1.0 for rank in self.ranks)

    @property
    def is_counted(self) -> bool:
        """True if the values are numbers, in which amounts are counted."""
        return isinstance(self.values[0], int)

    @property
    def plural(self) -> str:
        """Name of several."""
        return plural_of(self.name)


class ItemError(BadParameter):
    """Mistake in a field of an item; the reader of the file adds its line."""

    def __init__(self, item: DealtItem, field: str, problem: str) -> None:
        super().__init__(problem)
        self.item, self.field = item, field


def is_plain_word(text: str) -> bool:
    """Return whether a text is one word of letters, digits and hyphens, of at most 24 characters."""
    return len(text) <= 24 and text.replace("-", "").isalnum() and text[0] != "-"
