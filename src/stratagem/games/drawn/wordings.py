"""Words of a description in one wording: its sentences by key, and how they name players and amounts."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Literal, NamedTuple

from stratagem.base.sentences.reading import SentenceFile, read_sentences
from stratagem.games.counting import plural_of

Role = Literal["each", "first", "second", "third", "fourth"]
"""Players that a step is about: all of them, or one by its place in the order of the round."""
ROLES: tuple[Role, ...] = ("first", "second", "third", "fourth")


class Words(NamedTuple):
    """Words of a description in one wording, as one of its players reads them."""

    wording: int
    """Number of the wording: that of its table in the file of wordings."""
    unit: str
    """Unit of payoffs, one of it."""
    seats: int
    """Number of players."""
    reader: Role | None
    """Role of the player who reads; None where it changes from round to round."""

    def say(self, key: str, role: Role | None = None, /, **fields: object) -> str:
        """Return the sentence of a key with words in its fields; a role are the players that it is about."""
        named: dict[str, object] = {"units": plural_of(self.unit)}
        if role is not None:
            who = self.player(role)
            named |= {"who": who, "Who": who[0].upper() + who[1:]}
        return self._fill(key, role, {**fields, **named})

    def player(self, role: Role) -> str:
        """Name the players of a role within a sentence."""
        named: dict[str, object] = {} if role == "each" else {"role": role, "number": ROLES.index(role) + 1}
        return self._fill("names.player", role, named)

    def amount(self, number: float) -> str:
        """Write an amount: `1 chip`, `2 chips`, `0.5 chips`."""
        return f"{number:g} {self.unit if number == 1 else plural_of(self.unit)}"

    def knows(self, key: str) -> bool:
        """Return whether the wording has a sentence of its own for a key."""
        return _has_text(f"{self.wording}.{key}")

    def _fill(self, key: str, role: Role | None, fields: dict[str, object]) -> str:
        found = next(filter(self.knows, [f"{key}_{ending}" for ending in self._endings(role)]), key)
        (text,) = read_wordings().wordings(f"{self.wording}.{found}", **fields)
        return text

    def _endings(self, role: Role | None) -> tuple[str, ...]:
        """Return the endings of keys that are about the players of a role, the closest first."""
        if role == "each":
            return ("alone", "you", "each") if self.seats == 1 else ("each",)
        return ("you",) if role is not None and role == self.reader and self.seats > 1 else ()


@cache
def read_wordings() -> SentenceFile:
    """Return the file of wordings, which is read once."""
    return read_sentences("wordings", __package__)


@cache
def count_wordings() -> int:
    """Return the number of wordings."""
    return len(read_wordings().names)


@lru_cache(maxsize=1024)
def _has_text(key: str) -> bool:
    return key in read_wordings()
