"""Choices of open text: one line that a seat writes freely within a limit, beside a list of ready lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import ClassVar, Protocol

from stratagem.games.choices import Choices, Flat, ParsedReply
from stratagem.games.key import Chance
from stratagem.games.reading import last_line
from stratagem.games.text_parts import Either, OneOf, Part, chain, draw_text, longest, prefix_part

LONGEST = 2000
"""Largest limit of a line, in characters."""


class Pattern(Protocol):
    """Constraint of a text: a template, or a schema of JSON."""

    @property
    def part(self) -> Part:
        """The texts that it admits."""
        ...

    def read(self, line: str) -> str | None:
        """Return the text that a line stands for; None where it is none."""
        ...

    def summary(self) -> str:
        """Return it for people."""
        ...


class OpenText(Choices):
    """Any text of at most `limit` printable characters, after a head where there are some; ready lines beside.

    With patterns the text is one of theirs. The ready lines stand for all in lists, and in draws without patterns.
    A line that is too long, or that holds a control character, is no legal action.
    """

    is_open: ClassVar[bool] = True

    def __init__(
        self, ready: Iterable[str], limit: int = 0, heads: Iterable[str] = (), patterns: Iterable[Pattern] = ()
    ) -> None:
        """`heads` are the beginnings of which each free line needs one, such as the name of who is spoken to."""
        self.ready = Flat(ready)
        self.heads = tuple(heads)
        self.patterns = tuple(patterns)
        self.limit = limit or max((longest(pattern.part) for pattern in self.patterns), default=0)
        if not 0 < self.limit <= LONGEST:
            raise ValueError(f"a line of open text has a limit from 1 to {LONGEST} characters, not {self.limit}")

    def __contains__(self, action: object) -> bool:
        return action in self.ready or (isinstance(action, str) and self._text(action) is not None)

    def _text(self, line: str) -> str | None:
        """Return the text of a free line after its head; None where the line is no legal one."""
        head = next((head for head in self.heads if line.startswith(head)), None if self.heads else "")
        text = None if head is None else line[len(head) :]
        if not text or fault(text, self.limit):
            return None
        return text if not self.patterns or any(pattern.read(text) == text for pattern in self.patterns) else None

    @property
    def is_free(self) -> bool:
        return not self.patterns

    @cached_property
    def part(self) -> Part:
        """The lines that the ready ones and the patterns make."""
        parts = tuple(pattern.part for pattern in self.patterns)
        text = parts[0] if len(parts) == 1 else Either(parts)
        if not self.heads:
            return Either((OneOf(self.ready.actions), text))
        bare = tuple(head.rstrip(" ") for head in self.heads)
        spaced = prefix_part(text, " ") if bare != self.heads else text
        return Either((OneOf(self.ready.actions), chain(OneOf(bare), spaced)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.ready)

    def __repr__(self) -> str:
        constrained = f", patterns={list(self.patterns)}" if self.patterns else ""
        return f"OpenText({list(self.ready)}, limit={self.limit}, heads={list(self.heads)}{constrained})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenText) and other._fields == self._fields

    def __hash__(self) -> int:
        return hash(self._fields)

    @property
    def _fields(self) -> tuple[Flat, int, tuple[str, ...], tuple[Pattern, ...]]:
        return self.ready, self.limit, self.heads, self.patterns

    @property
    def count(self) -> int:
        """The number of ready lines."""
        return self.ready.count

    @property
    def first(self) -> str:
        return self.ready.first

    def sample(self, chance: Chance) -> str:
        """Draw a ready line uniformly; each pattern counts as one of them, and draws a text of its own."""
        index = chance.integer(self.ready.count + len(self.patterns)) - self.ready.count
        if index < 0:
            return self.ready.actions[index]
        head = self.heads[chance.at("head").integer(len(self.heads))] if self.heads else ""
        return head + draw_text(self.patterns[index].part, chance.at("text"))

    def parse(self, text: str) -> ParsedReply:
        """Return the last non-empty line: the ready line that it names as a whole, or the line as it is written."""
        line = last_line(text)
        if not line:
            return ParsedReply(None, "silent")
        if named := self.ready.whole(line):
            return ParsedReply(named)
        line = self._match_pattern(line) if self.patterns else line
        return ParsedReply(line) if line in self else ParsedReply(None, "illegal")

    def _match_pattern(self, line: str) -> str:
        """Return a line as its pattern writes it; as it is where it has none."""
        for head in self.heads or ("",):
            if line.startswith(head):
                texts = (pattern.read(line[len(head) :]) for pattern in self.patterns)
                return next((head + text for text in texts if text is not None), line)
        return line

    def summary(self, limit: int = 12) -> str:
        after = f" after {', '.join(head.strip() for head in self.heads[:limit])}" if self.heads else ""
        if self.patterns:
            forms = ", or ".join(pattern.summary() for pattern in self.patterns)
            return f"{self.ready.summary(limit)}, or{after} {forms}"
        return f"{self.ready.summary(limit)}, or a line of your own{after} of at most {self.limit} characters"


def fault(text: str, limit: int) -> str:
    """Return why a text cannot be said; empty where it can."""
    if not text or text != text.strip():
        return "it is empty, or begins or ends with a space"
    if len(text) > limit:
        return f"it has {len(text)} characters, and {limit} are the limit"
    return "" if text.isprintable() else "it holds a control character"
