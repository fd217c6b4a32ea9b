"""Open text as a reply: any token, until a line break, an end token, or the limit of the line.

Every token is sampled from the whole vocabulary, so all of them are in the loss of what is trained on them.
"""

from __future__ import annotations

from stratagem.games.open_text import OpenText
from stratagem.language.decoding.spelling import end_of
from stratagem.language.decoding.stream import TextStream
from stratagem.language.decoding.vocabulary import Ids, Vocabulary

_EMPTY = 16
"""Number of tokens beyond the limit after which a line ends, though they may show no character."""


class OpenLine:
    """Choices of open text for a reply that begins right after the text `left`."""

    def __init__(self, choices: OpenText, vocabulary: Vocabulary, ends: frozenset[int], left: str = "\n") -> None:
        self.choices = choices
        self.vocabulary = vocabulary
        self.ends = ends
        self.left = end_of(left)
        self.longest = choices.limit + max(map(len, choices.heads), default=0)
        """Number of characters of the longest line, with its head."""

    def start(self) -> GrowingLine:
        """Return a guide before the first token."""
        return GrowingLine(self)


class GrowingLine:
    """One line in growth."""

    forced: Ids = ()
    allowed: Ids | None = None

    def __init__(self, walker: OpenLine) -> None:
        self.walker = walker
        self.tokens: list[int] = []
        self.done = False
        self._text = ""
        self._stream = TextStream(walker.vocabulary, walker.vocabulary.encode(walker.left))

    def advance(self, token: int) -> None:
        """Take a token, and end at a line break, an end token or the limit."""
        if token in self.walker.ends:
            self.done = True
            return
        self.tokens.append(token)
        self._text += self._stream.add(token)
        line = self._text.lstrip()
        too_long = len(line) > self.walker.longest or len(self.tokens) >= self.walker.longest + _EMPTY
        self.done = too_long or len(line.splitlines()) > 1 or line != line.rstrip("\r\n")

    def fork(self) -> GrowingLine:
        """Return a copy of the guide, which goes on by itself."""
        copy = GrowingLine(self.walker)
        for token in self.tokens:
            copy.advance(token)
        copy.done = self.done
        return copy

    @property
    def text(self) -> str:
        """The text so far."""
        self._text += self._stream.rest()
        return self._text

    @property
    def action(self) -> str | None:
        """The legal line of the reply; None where it is too long or holds what cannot be said."""
        lines = self.text.strip().splitlines()
        return self.walker.choices.parse(lines[0]).action if lines else None
