"""Face of an OpenSpiel game for people and models: its name, rules in words, situations and action strings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from stratagem.games.base import Seat
from stratagem.games.reading import plain
from stratagem.games.spiel.engine import load
from stratagem.games.spiel.facts import SpielFacts


@dataclass(frozen=True, kw_only=True)
class Face(ABC):
    """Face of a game: declared data and three methods."""

    name: str = ""
    """Registry name of the game."""
    text: str
    """OpenSpiel's text of the game, with its parameters."""
    family: str = ""
    summary: str = ""
    reference: str = ""
    symmetric: bool = False
    vocabulary: ClassVar[tuple[str, ...]] = ()
    """Words of the texts that a disguise renames; those of the actions where there are none."""
    static_actions: ClassVar[bool] = True
    """True if an action's string follows from its number, so that menus can be cached."""

    @abstractmethod
    def rules(self, seat: Seat) -> str:
        """Return the rules in words for this seat."""

    @abstractmethod
    def situation(self, facts: SpielFacts) -> str:
        """Return the information of this seat in words."""

    @abstractmethod
    def action(self, word: str) -> str:
        """Return our string for the engine's `word`; different words get different strings."""

    def names(self, words: Sequence[str], ids: Sequence[int]) -> list[str]:
        """Return our strings for the engine's words of these actions, which are all legal ones of a position."""
        return [self.action(word) for word in words]


@dataclass(frozen=True, kw_only=True)
class PlainFace(Face):
    """Any OpenSpiel game in the engine's own words, for games that have no face of their own."""

    static_actions: ClassVar[bool] = False

    def rules(self, seat: Seat) -> str:
        engine = load(self.text)
        options = sorted(engine.spiel.get_parameters().items())
        chosen = ", ".join(f"{option}={value}" for option, value in options) or "none"
        low, high = engine.bounds
        return (
            f"This is {engine.long_name} as OpenSpiel plays it, with {engine.seats} player(s); parameters: {chosen}.\n"
            f"You are player {seat}, counted from 0. "
            f"Payoffs are {engine.utility}, from {low:g} to {high:g} for each player."
        )

    def situation(self, facts: SpielFacts) -> str:
        engine = load(self.text)
        hidden = engine.says_information and not engine.perfect and not engine.one_shot
        shown = facts.information if hidden else facts.observation
        return f"{shown.rstrip()}\n{turn(facts)}".lstrip("\n")

    def action(self, word: str) -> str:
        return " ".join(word.split())

    def names(self, words: Sequence[str], ids: Sequence[int]) -> list[str]:
        names = super().names(words, ids)
        spellings = [plain(name) for name in names]
        if "" not in spellings and len(set(spellings)) == len(spellings):
            return names
        return [f"action {number}" for number in ids]


def turn(facts: SpielFacts) -> str:
    """Describe whose turn it is."""
    if facts.over:
        return "The game is over."
    return "It is your turn." if facts.to_act else "It is not your turn."


def grid(rows: Sequence[str], labels: Sequence[str], columns: str) -> str:
    """Draw a board of single characters with its rows and columns labelled."""
    width = max(len(label) for label in labels)
    head = " " * width + " " + " ".join(columns)
    return "\n".join([head, *(f"{label:>{width}} {' '.join(row)}" for label, row in zip(labels, rows, strict=True))])
