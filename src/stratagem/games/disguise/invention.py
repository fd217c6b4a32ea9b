"""Generated words: pronounceable, without a meaning, drawn by a key.

A word has six letters in three syllables, such as `lobaku`. All words have one length, so none is the beginning of
another, and two words of one disguise differ in at least two letters. English has no word of this form: the last
syllable is one of `bu`, `ku`, `vu`, `zu`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stratagem.base.errors import CannotCompute
from stratagem.games.key import Key

CONSONANTS, VOWELS, LAST = "bdklmnprstvz", "aeiou", "bkvz"
_AVOIDED = ("sudok", "nazi", "rape", "kike", "pedo", "puta")
"""Letters that no generated word has: they are those of words with a meaning, most of them of insults."""
_TRIES = 10_000
_SHORTEST = 3
"""Letters from which on a word of the game must not stand inside a generated word."""


def invent(number: int, key: Key, taken: Iterable[str] = ()) -> list[str]:
    """Return so many generated words that are not among the taken ones, and hold none of them."""
    avoided = frozenset(word.casefold() for word in taken)
    words: list[str] = []
    near: set[str] = set()
    for attempt in range(_TRIES):
        if len(words) == number:
            return words
        word = _draw_word(key.at("word", attempt))
        if near.isdisjoint(_gaps(word)) and _is_clear(word, avoided):
            words.append(word)
            near.update(_gaps(word))
    raise CannotCompute(f"No {number} generated words differ from each other in two letters: rename fewer words.")


def _draw_word(key: Key) -> str:
    """Draw three syllables of a consonant and a vowel; the last vowel is always `u`."""
    letters = (CONSONANTS, VOWELS, CONSONANTS, VOWELS, LAST)
    return "".join(_one(some, key.at(place)) for place, some in enumerate(letters)) + "u"


def _one(letters: Sequence[str], key: Key) -> str:
    return letters[key.integer(len(letters))]


def _is_clear(word: str, avoided: frozenset[str]) -> bool:
    found = any(other in word for other in avoided if len(other) >= _SHORTEST)
    return not found and not any(other in word for other in _AVOIDED)


def _gaps(word: str) -> list[str]:
    """Return the word with each letter left open in turn; words that differ in one letter share one of these."""
    return [f"{word[:place]}_{word[place + 1 :]}" for place in range(len(word))]
