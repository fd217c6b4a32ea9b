"""Choices of open text: one line that a seat writes freely within a limit, beside a list of ready lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from stratagem.games.choices import Choices, Flat, Reply
from stratagem.games.key import Chance
from stratagem.games.reading import last_line

LONGEST = 2000
"""Largest limit of a line, in characters."""


class OpenText(Choices):
    """Any text of at most `limit` printable characters, after a head where there are some; ready lines beside.

    The ready lines stand for all in lists and draws.
    A line that is too long, or that holds a control character, is no legal action.
    """

    is_open: ClassVar[bool] = True

    def __init__(self, ready: Iterable[str], limit: int, heads: Iterable[str] = ()) -> None:
        """`heads` are the beginnings of which each free line needs one, such as the name of who is spoken to."""
        self.ready = Flat(ready)
        self.limit = limit
        self.heads = tuple(heads)
        if not 0 < limit <= LONGEST:
            raise ValueError(f"a line of open text has a limit from 1 to {LONGEST} characters, not {limit}")

    def __contains__(self, action: object) -> bool:
        return action in self.ready or (isinstance(action, str) and self._text(action) is not None)

    def _text(self, line: str) -> str | None:
        """Return the text of a free line after its head; None where the line is no legal one."""
        head = next((head for head in self.heads if line.startswith(head)), None if self.heads else "")
        text = None if head is None else line[len(head) :]
        return text if text and not fault(text, self.limit) else None

    def __iter__(self) -> Iterator[str]:
        return iter(self.ready)

    def __repr__(self) -> str:
        return f"OpenText({list(self.ready)}, limit={self.limit}, heads={list(self.heads)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenText) and other._fields == self._fields

    def __hash__(self) -> int:
        return hash(self._fields)

    @property
    def _fields(self) -> tuple[Flat, int, tuple[str, ...]]:
        return self.ready, self.limit, self.heads

    @property
    def count(self) -> int:
        """The number of ready lines."""
        return self.ready.count

    @property
    def first(self) -> str:
        return self.ready.first

    def sample(self, chance: Chance) -> str:
        """Draw a ready line uniformly."""
        return self.ready.sample(chance)

    def parse(self, text: str) -> Reply:
        """Return the last non-empty line: the ready line that it names as a whole, or the line as it is written."""
        line = last_line(text)
        if not line:
            return Reply(None, "silent")
        if named := self.ready.whole(line):
            return Reply(named)
        return Reply(line) if line in self else Reply(None, "illegal")

    def summary(self, limit: int = 12) -> str:
        after = f" after {', '.join(head.strip() for head in self.heads[:limit])}" if self.heads else ""
        return f"{self.ready.summary(limit)}, or a line of your own{after} of at most {self.limit} characters"


def fault(text: str, limit: int) -> str:
    """Return why a text cannot be said; empty where it can."""
    if not text or text != text.strip():
        return "it is empty, or begins or ends with a space"
    if len(text) > limit:
        return f"it has {len(text)} characters, and {limit} are the limit"
    return "" if text.isprintable() else "it holds a control character"
