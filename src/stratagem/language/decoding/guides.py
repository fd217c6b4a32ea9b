"""Guides of replies that are not a walk down the trie from their first token: free text, a mark, a single token.

They share the shape of a `Cursor`: what is allowed next, what is forced, whether the reply is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stratagem.games.choices import Choices
from stratagem.language.decoding.line import GrowingLine, OpenLine
from stratagem.language.decoding.pattern import PatternCursor, PatternLine
from stratagem.language.decoding.spelling import end_of
from stratagem.language.decoding.stopping import StopRule, after_thinking
from stratagem.language.decoding.stream import TextStream
from stratagem.language.decoding.vocabulary import Ids, Vocabulary
from stratagem.language.decoding.walker import Cursor, Walker

_OPEN, _CLOSE = "<think>", "</think>"


class Free:
    """Free text, until a legal action stands on its last line or the model ends it."""

    forced: Ids = ()
    allowed: Ids | None = None

    def __init__(self, rule: StopRule, vocabulary: Vocabulary, ends: frozenset[int], before: Ids = ()) -> None:
        """`before` are the last tokens of the prompt; `ends` the tokens that end a reply."""
        opened = _is_opened(vocabulary, before)
        self.rule = rule
        self.before = before
        self.ends = ends
        self._watch = rule.watch(thinking=opened)
        self._stream = TextStream(vocabulary, before)
        self._text: list[str] = []
        self._thinking = opened
        self.done = False

    def advance(self, token: int) -> None:
        if token in self.ends:
            self.done = True
            return
        piece = self._stream.add(token)
        self._text.append(piece)
        self.done = bool(piece) and self._watch.feed(piece)

    @property
    def action(self) -> str | None:
        """The action at which the reply was stopped."""
        return self._watch.action

    @property
    def text(self) -> str:
        """The reply without the thinking."""
        self._text.append(self._stream.rest())
        return after_thinking("".join(self._text), self._thinking)


class OneToken:
    """A single token, whichever it is (ShapeLLM)."""

    forced: Ids = ()
    allowed: Ids | None = None

    def __init__(self) -> None:
        self.token = -1
        self.done = False

    def advance(self, token: int) -> None:
        self.token = token
        self.done = True


@dataclass(frozen=True)
class After:
    """Trie of some choices after a text, to which `lead` is joined unless it ends with a space."""

    compile: Callable[[Choices, str, str], Walker | OpenLine | PatternLine]
    """Function of the choices, of the text before them as far as it matters, and of the lead."""
    choices: Choices
    lead: str

    def __call__(self, text: str) -> Walker | OpenLine | PatternLine:
        return self.compile(self.choices, end_of(text), "" if text[-1:].isspace() else self.lead)


class MarkedGuide:
    """Free text until a mark, then a walk down the trie; the mark is inserted when the text ends without it."""

    def __init__(
        self,
        after: Callable[[str], Walker | OpenLine | PatternLine],
        mark: str,
        vocabulary: Vocabulary,
        ends: frozenset[int],
        room: int,
        before: Ids = (),
    ) -> None:
        """`after` compiles the choices for what stands before them; `room` is for the text, in tokens."""
        self.after = after
        self.mark = mark
        self.ends = ends
        self.room = room
        self.before = before
        self._vocabulary = vocabulary
        self._room = room
        self._stream = TextStream(vocabulary, before)
        self._thinking = _is_opened(vocabulary, before)
        self._text = ""
        self._waiting: list[int] = []
        self._cursor: Cursor | GrowingLine | PatternCursor | None = None
        if room <= 0:
            self._close()

    @property
    def done(self) -> bool:
        return self._cursor is not None and self._cursor.done

    @property
    def allowed(self) -> Ids | None:
        return None if self._cursor is None else self._cursor.allowed

    @property
    def forced(self) -> Sequence[int]:
        return self._waiting if self._cursor is None else self._cursor.forced

    @property
    def action(self) -> str | None:
        """The legal action of the reply; None until the walk is done."""
        return None if self._cursor is None else self._cursor.action

    def fork(self) -> Cursor | GrowingLine | PatternCursor | None:
        """Return a walk that goes on from here by itself; None before the mark."""
        return None if self._cursor is None else self._cursor.fork()

    def advance(self, token: int) -> None:
        if self._cursor is not None:
            self._cursor.advance(token)
        elif self._waiting:
            self._waiting = self._waiting[1:]
            if not self._waiting:
                self._open(self._text + self.mark)
        else:
            self._listen(token)

    def _listen(self, token: int) -> None:
        """Take a token of the free text, and find the mark or decide to insert it."""
        self._room -= 1
        if token not in self.ends:
            self._text += self._stream.add(token)
            if self.mark in after_thinking(self._text, self._thinking):
                return self._open(self._text)
        if token in self.ends or self._room <= 0:
            self._close()
        return None

    def _open(self, before: str) -> None:
        self._cursor = self.after(before).start()

    def _close(self) -> None:
        """Insert the mark: on a line of its own, and after an end of the thinking where that goes on."""
        inside = self._text.rfind(_OPEN) > self._text.rfind(_CLOSE) or (self._thinking and _CLOSE not in self._text)
        ending = f"\n{_CLOSE}\n" if inside else "\n" if self._text and not self._text.endswith("\n") else ""
        self._text += ending
        self._waiting = self._vocabulary.encode(ending + self.mark)


def _is_opened(vocabulary: Vocabulary, before: Ids) -> bool:
    """Return whether the prompt ends with an open `<think>`, one that is not closed again nor quoted in a message."""
    return vocabulary.decode(before).rstrip().endswith(_OPEN)
