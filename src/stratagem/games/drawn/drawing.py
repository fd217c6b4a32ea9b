"""Games drawn by a seed: sketches of a family, of which the first acceptable one is the game of the seed.

A draw is a function of seed, family, size and the version of the generator. A sketch is refused with a reason, so the
bias of acceptance can be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pkgutil import resolve_name

from stratagem.base.errors import BadParameter, CannotCompute, UnknownName
from stratagem.base.options import check_seed
from stratagem.games.drawn.generator.cards import sketch_cards, sketch_dice
from stratagem.games.drawn.generator.lexicon import Lexicon
from stratagem.games.drawn.generator.markets import sketch_auction, sketch_bargaining
from stratagem.games.drawn.generator.matrices import sketch_matrix, sketch_signals
from stratagem.games.drawn.generator.sketch import SIZES, Size, Sketch
from stratagem.games.drawn.stored_draws import GameDraw, Sketched, draw_path, read_draw, store_draw
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


GENERATOR = 1
"""Version of the generator: raised whenever a seed would draw another game."""
_ATTEMPTS = 1000
_ACCEPTANCE = "stratagem.games.drawn.acceptance:accept"
"""Place of the acceptance, which reads the catalogue of games, and so the class of drawn games, too."""


def check_family(family: str, size: str) -> None:
    """Refuse an unknown family or size."""
    if not isinstance(family, str):
        raise BadParameter(f"A drawn game needs `family` as one of {', '.join(FAMILIES)}, not {family!r}.")
    if family not in FAMILIES:
        raise UnknownName("family of drawn games", family, list(FAMILIES))
    if size not in SIZES:
        raise BadParameter(f"A drawn game needs `size` as one of {', '.join(SIZES)}, not {size!r}.")


@lru_cache(maxsize=512)
def draw_game(seed: int, family: str, size: Size) -> GameDraw:
    """Return the game of a seed; a later process makes the accepted sketch again without its search."""
    check_seed(seed)
    check_family(family, size)

    def sketched(attempt: int) -> Sketched:
        key = Key(seed).at("drawn game", GENERATOR, family, size)
        found, words = sketch(family, size, key.at(attempt))
        return found.describe(f"Drawn game {seed} of {family}", words), found.structure

    path = draw_path(GENERATOR, family, size, seed)
    if (stored := read_draw(path, sketched)) is not None:
        return stored
    refused: Counter[str] = Counter()
    accept = resolve_name(_ACCEPTANCE)
    for attempt in range(_ATTEMPTS):
        try:
            description, structure = sketched(attempt)
        except BadParameter:
            refused["it is impossible"] += 1
            continue
        result = accept(description, size)
        if not result.refused:
            draw = GameDraw(description, structure, attempt, refused, result.digest, result.worth)
            store_draw(path, draw)
            return draw
        refused[result.refused] += 1
    reasons = ", ".join(f"{reason} {count}" for reason, count in refused.most_common())
    raise CannotCompute(f"No game of seed {seed}, family {family} and size {size} is acceptable: {reasons}.")
