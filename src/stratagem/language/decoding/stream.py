"""Incremental decoding of tokens to text."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.language.decoding.vocabulary import Vocabulary

_TORN = "\ufffd"
"""Decoding of half a character."""
_LONGEST = 8
"""Number of tokens without a whole character after which none is expected."""


class TextStream:
    """The growing text of a reply; a character that spans several tokens comes with its last one."""

    def __init__(self, vocabulary: Vocabulary, before: Sequence[int] = ()) -> None:
        """Begin after some last tokens of the prompt, which settle whether a leading space is shown."""
        self._vocabulary = vocabulary
        self._ids = list(before)[-_LONGEST:]
        self._shown = len(self._ids)

    def add(self, token: int) -> str:
        """Return the text that this token adds; empty where it ends within a character."""
        self._ids.append(token)
        piece = self._piece()
        if piece.endswith(_TORN) and len(self._ids) - self._shown < _LONGEST:
            return ""
        # a few shown tokens stay as context, since some vocabularies decode a first token differently
        self._ids = self._ids[-_LONGEST:]
        self._shown = len(self._ids)
        return piece

    def rest(self) -> str:
        """Return the text still held back, at the end of a reply."""
        piece = self._piece()
        self._shown = len(self._ids)
        return piece

    def _piece(self) -> str:
        shown = self._vocabulary.decode(self._ids[: self._shown])
        return self._vocabulary.decode(self._ids)[len(shown) :]
