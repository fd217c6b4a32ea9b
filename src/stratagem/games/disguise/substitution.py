"""Substitution of words in a text: whole words, longest first, all at once; case and inflection are kept.

A word in lower case stands for itself in any case and inflection: `bet` for `BET`, `bets` and `betting`. A form that
cannot be derived follows a slash: `keep/kept`. A word with a capital, or of one letter, stands for itself alone: `PAR`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from stratagem.games.counting import plural_of

_LETTER = r"[^\W\d_]"
_STARTS, _ENDS = rf"(?<!{_LETTER})", rf"(?!{_LETTER})"
_SIGN = rf"(?<=\d)x(?={_LETTER}?\d)"
"""Sign between numbers or squares, as in `2x5` and `a2xb3`."""
WORDS = rf"{_SIGN}|{_LETTER}+"
"""Pattern of the signs and words of a text."""
_ARTICLE = re.compile(r" (?!to\b)[a-z]{2}")
"""Text after `a` as an article; as a name it stands alone, or in `a to c`."""
_ENDINGS = {"s": "s", "es": "s", "d": "ed", "ed": "ed", "er": "er", "ers": "ers", "ing": "ing", "ment": "ment"}
"""Endings of a word, as they are written after a generated word."""
_VOWELS = "aeiou"
_SHORTEST = 4
"""Letters from which on a word is looked for inside other words."""
_SHORTEST_NAME = 3
"""Letters from which on a name is looked for in another case."""


class Ending(NamedTuple):
    """Word that a form belongs to, and what the form adds to it."""

    word: str
    added: str


def is_name(word: str) -> bool:
    """Return whether a word stands for itself alone, without other cases and inflections."""
    return len(word) == 1 or word != word.lower()


def lemma(word: str) -> str:
    """Return the word without its irregular forms: `keep` of `keep/kept`."""
    return word.partition("/")[0]


def forms(word: str) -> dict[str, str]:
    """Return every form of a word in lower case, with what it adds to the word."""
    base, *irregular = word.split("/")
    found = dict.fromkeys([base, *irregular], "ed") | {plural_of(base): "s"} | {base: ""}  # sheep is its own plural
    for ending, added in _ENDINGS.items():
        found.setdefault(base + ending, added)
        if base.endswith("e") and ending[0] in _VOWELS:
            found.setdefault(base[:-1] + ending, added)
        elif base[-1] not in _VOWELS and ending[0] in "ei":
            found.setdefault(base + base[-1] + ending, added)
        if base.endswith("y") and ending in ("es", "ed"):
            found.setdefault(base[:-1] + "i" + ending, added)
    return found


class Substitution:
    """Exchange of words for others in texts."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        """`pairs` has the new word of each word, both as `forms` reads them."""
        self._new = {lemma(word): new for word, new in pairs.items()}
        self._names = {word for word in pairs if is_name(word)}
        self._forms: dict[str, Ending] = {}
        for word in pairs:
            if word not in self._names:
                self._forms.setdefault(lemma(word), Ending(lemma(word), ""))
        for word in pairs:
            if word not in self._names:
                for form, added in forms(word).items():
                    self._forms.setdefault(form, Ending(lemma(word), added))
        phrases = (word for word in (*self._names, *self._forms) if not word.isalpha())
        first = (rf"{_STARTS}(?i:{re.escape(phrase)}){_ENDS}" for phrase in sorted(phrases, key=len, reverse=True))
        words = "|".join([*first, WORDS])
        self._pattern = re.compile(rf"(?:{_STARTS}(?P<article>[Aa])n )?(?P<word>{words})")

    def __call__(self, text: str) -> str:
        """Return the text in the new words."""
        return self._pattern.sub(self._exchange_word, text)

    def _exchange_word(self, found: re.Match[str]) -> str:
        word = found["word"]
        new = self._new_word(word, found)
        if new is None:
            return found.group()
        article = f"{found['article']} " if found["article"] else ""  # `an item` becomes `a lobaku`
        return article + _as_in(word, new)

    def _new_word(self, word: str, found: re.Match[str]) -> str | None:
        if word in self._names:
            is_article = word in ("a", "A") and _ARTICLE.match(found.string, found.end())
            return None if is_article else self._new[word]
        if form := self._forms.get(word.lower()):
            return self._new[form.word] + form.added
        return None

    def remaining(self, text: str) -> str:
        """Return a word of the text that still shows one of the words; empty if none does.

        It holds it, as `recall` holds `call`, or is a name in another case.
        """
        found = self._left.search(text)
        return found.group() if found else ""

    @cached_property
    def _left(self) -> re.Pattern[str]:
        words = sorted(word for word in self._new if word not in self._names and len(word) >= _SHORTEST)
        names = sorted(name for name in self._names if len(name) >= _SHORTEST_NAME)
        inside = (rf"{_LETTER}*(?i:{re.escape(word)}){_LETTER}*" for word in words)
        alone = (rf"(?i:{re.escape(name)}){_ENDS}" for name in names)
        # what is found begins where letters begin: a search from every letter on took most of a check of disguises
        return re.compile(rf"{_STARTS}(?:{'|'.join([*inside, *alone]) or '(?!)'})")


def _as_in(plain: str, new: str) -> str:
    """Write the new word in the case of the plain one; a capital of its own is a name, such as the card J."""
    if len(plain) > 1 and plain.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if plain[:1].isupper() else new
