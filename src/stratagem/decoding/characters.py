"""Tokens that are characters of a string, by their length: what may stand between two quotation marks.

A token counts by the text that it adds within a text. Half a character, a control character, a quotation mark, a
backslash and a marker of the tokenizer such as `<|end|>` are none.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from weakref import WeakKeyDictionary

from stratagem.decoding.vocabulary import Ids, Vocabulary
from stratagem.games.text_parts import can_hold

_TORN = "\ufffd"
_BEFORE = "x"
"""Text before a token, since some vocabularies decode a first token differently."""


class CharacterTokens:
    """Tokens of a vocabulary that are characters of a string."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        before = vocabulary.encode(_BEFORE)
        start = len(vocabulary.decode(before))
        rows = vocabulary.decode_all([[*before, token] for token in range(vocabulary.size)])
        texts = {token: row[start:] for token, row in enumerate(rows)}
        self.lengths = {token: len(text) for token, text in texts.items() if _is_character(text)}
        self.lengths.pop(vocabulary.end, None)
        """Number of characters of each of the tokens."""
        self._sizes = sorted(set(self.lengths.values()))
        self._within = lru_cache(maxsize=None)(self._listed)

    def within(self, room: int) -> Ids:
        """Return the tokens of at most so many characters, ascending."""
        return self._within(self.level(room))

    def level(self, room: int) -> int:
        """Return a number that is equal for rooms in which the same tokens have a place."""
        return bisect_right(self._sizes, room)

    def _listed(self, level: int) -> Ids:
        known = set(self._sizes[:level])
        return tuple(sorted(token for token, length in self.lengths.items() if length in known))


_known: WeakKeyDictionary[Vocabulary, CharacterTokens] = WeakKeyDictionary()


def character_tokens(vocabulary: Vocabulary) -> CharacterTokens:
    """Return the tokens of a vocabulary that are characters of a string, computed once."""
    if vocabulary not in _known:
        _known[vocabulary] = CharacterTokens(vocabulary)
    return _known[vocabulary]


def _is_character(text: str) -> bool:
    marker = text.startswith("<") and text.endswith(">")
    return bool(text) and _TORN not in text and not marker and can_hold(text, len(text))
