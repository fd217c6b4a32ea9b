"""Drawn games of two families: parts of both in one round, whose payoffs are added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stratagem.games.drawn.generator.cards import sketch_cards, sketch_dice
from stratagem.games.drawn.generator.lexicon import Lexicon
from stratagem.games.drawn.generator.markets import sketch_auction, sketch_bargaining
from stratagem.games.drawn.generator.matrices import sketch_matrix, sketch_signals
from stratagem.games.drawn.generator.sketch import Size, Sketch
from stratagem.games.key import Key

SKETCHES: dict[str, Callable[[Lexicon, Size], Sketch]] = {
    "cards": sketch_cards,
    "dice": sketch_dice,
    "auction": sketch_auction,
    "bargaining": sketch_bargaining,
    "matrix": sketch_matrix,
    "signals": sketch_signals,
}
"""Families of one kind of game, by name."""
_TRIES = 50


def sketch_mixed(words: Lexicon, size: Size) -> Sketch:
    """Draw two parts of different families for the same two players."""
    names = list(SKETCHES)
    first = names.pop(words.key.at("first family").integer(len(names)))
    second = names[words.key.at("second family").integer(len(names))]
    parts = [_part(words, family, place, size) for place, family in enumerate((first, second))]
    both = parts[0].then(parts[1])
    return replace(both, structure=("mixed", *both.structure))


def _part(words: Lexicon, family: str, place: int, size: Size) -> Sketch:
    """Return a sketch for two players and one round; its words are those that the part before left."""
    for attempt in range(_TRIES):
        found = SKETCHES[family](words.within(words.key.at("part", place, attempt)), size)
        if found.seats == 2:
            return replace(found, rounds=1, turns=False, continuation=1.0)
    raise AssertionError(f"no sketch of {family} has two players")


FAMILIES: dict[str, Callable[[Lexicon, Size], Sketch]] = {**SKETCHES, "mixed": sketch_mixed}
"""Families of drawn games by name."""


def sketch(family: str, size: Size, key: Key) -> tuple[Sketch, Lexicon]:
    """Return the sketch that a key draws, with the words that it used."""
    words = Lexicon(key)
    return FAMILIES[family](words, size), words
