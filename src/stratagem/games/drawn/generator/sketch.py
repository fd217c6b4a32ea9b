"""Sketch of a drawn game: its items and steps, and the structure that was chosen for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stratagem.games.drawn.description import GameDescription, Step
from stratagem.games.drawn.generator.lexicon import Lexicon
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.steps.choosing import Choose, Option

Size = Literal["small", "medium", "large"]
SIZES: tuple[Size, ...] = ("small", "medium", "large")


_WORDINGS = 2
"""Number of wordings that are drawn: with one more of them, every seed would draw another game."""


@dataclass(frozen=True)
class Sketch:
    """Draw of structure and parameters that has not been accepted yet."""

    items: tuple[DealtItem, ...]
    steps: tuple[Step, ...]
    structure: tuple[str, ...]
    """Structural choices in words: games of one structure differ in parameters and words alone."""
    seats: int = 2
    rounds: int = 1
    turns: bool = False
    continuation: float = 1.0

    def describe(self, name: str, words: Lexicon) -> GameDescription:
        """Return the description of the sketch."""
        return GameDescription(
            name=name,
            items=self.items,
            steps=self.steps,
            seats=self.seats,
            rounds=self.rounds,
            turns=self.turns and self.rounds > 1,
            continuation=self.continuation,
            wording=words.whole("wording", 0, _WORDINGS - 1),
        )

    def then(self, other: Sketch) -> Sketch:
        """Return both sketches one after another in a round."""
        return replace(
            self,
            items=(*self.items, *other.items),
            steps=(*self.steps, *other.steps),
            structure=(*self.structure, *other.structure),
        )


def grown(size: Size, small: int, medium: int, large: int) -> int:
    """Return the number for a size."""
    return {"small": small, "medium": medium, "large": large}[size]


def free_choice(words: Lexicon, number: int, **fields: object) -> Choose:
    """Return a choice among so many words."""
    return Choose(name=words.word(), options=tuple(map(Option, words.actions(number))), **fields)  # type: ignore[arg-type]


def number_choice(words: Lexicon, numbers: Sequence[int], **fields: object) -> Choose:
    """Return a choice among numbers."""
    return Choose(name=words.word(), options=tuple(Option(str(n)) for n in numbers), **fields)  # type: ignore[arg-type]
