"""Stop rule: a reply ends when a legal action is the last non-empty line, and never while `<think>` is open.

- Where what stands on the line is the beginning of another action, the rule waits for what ends it: a line break, or a
  character that leads to no other action. The end token ends a reply by itself.
- What was thought is no reply: a closing `</think>` begins a fresh line.
- With `mid_text` the action may stand anywhere in the line, as `Choices.parse` finds it, once another character shows
  that it ended; without it, a line that goes on about an action is not taken for one. A line of which the beginning was
  let go may have named another action there, so nothing is found in it.

Each token costs as much as its text and one line as long as the longest action; what came before is not read again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from itertools import chain
from typing import NamedTuple

from stratagem.games.choices import Choices, Flat, Sheet
from stratagem.games.reading import plain, unwrap_line

_MARGIN = 64
"""Number of characters by which a line may be longer than the longest action, with markup around the action."""
_ARGUED = 1000
"""The same where the action may stand anywhere in the line."""
_TAGS = re.compile("</?think>")
_TAG_LENGTH = len("</think>")


def after_thinking(text: str, thinking: bool = False) -> str:
    """Return the part of a reply after its thinking; empty while the thinking goes on."""
    tags = _TAGS.findall(text)
    if (tags[-1] == "<think>") if tags else thinking:
        return ""
    return text.rpartition("</think>")[2]


class LineEnd(NamedTuple):
    """End of a line, and whether something before it was cut off."""

    text: str
    cut: bool = False


class StopRule:
    """End of a reply about these choices; compiled once, for any number of replies."""

    def __init__(self, choices: Choices, mid_text: bool = False) -> None:
        self.choices = choices
        self.mid_text = mid_text and isinstance(choices, Flat)
        self.fill = choices.fill if isinstance(choices, Sheet) else 1
        options = chain.from_iterable(slot.options for slot in choices.slots) if isinstance(choices, Sheet) else choices
        self._spellings = sorted({plain(option) for option in options})
        self._known = frozenset(self._spellings)
        self.room = max(map(len, self._spellings)) + (_ARGUED if self.mid_text else _MARGIN)

    def watch(self, thinking: bool = False) -> GrowingReply:
        """Begin a reply; `thinking` where the prompt ends with an open `<think>`."""
        return GrowingReply(self, thinking)

    def action(self, lines: list[LineEnd], ended: bool) -> str | None:
        """Return the action of the last lines, if the reply is complete; `ended` when a line break follows them."""
        last = lines[-1]
        if self.choices.is_open and not ended:
            return None
        if not last.cut and (plain(last.text) in self._known or plain(unwrap_line(last.text)) in self._known):
            if not ended and (self._grows(last.text) or self._grows(_strip_opening(last.text))):
                return None
            whole = all(not line.cut for line in lines)
            return self.choices.parse("\n".join(line.text for line in lines)).action if whole else None
        return self._find_named(last, ended) if self.mid_text else None

    def _grows(self, text: str) -> bool:
        """Return whether another action begins with this."""
        start = plain(text)
        index = bisect_right(self._spellings, start)
        return index < len(self._spellings) and self._spellings[index].startswith(start)

    def _find_named(self, line: LineEnd, ended: bool) -> str | None:
        """Return the only action in the line; its end must be seen."""
        action = None if line.cut else self.choices.parse(line.text).action
        if action is None or ended:
            return action
        _, match, after = line.text.casefold().rpartition(action.casefold())
        return action if match and after and not self._grows(match + after) else None


def _strip_opening(text: str) -> str:
    """Return the line without the marks before its first word."""
    return text[max(text.find(unwrap_line(text)), 0) :]


class GrowingReply:
    """One growing reply: the lines that could make the action, and the one being written."""

    def __init__(self, rule: StopRule, thinking: bool = False) -> None:
        self.rule = rule
        self._thinking = thinking
        self.lines: deque[LineEnd] = deque(maxlen=rule.fill)
        """Last whole lines, as many as the action has."""
        self.line = LineEnd("")
        """Line that is being written, or its end."""
        self.action: str | None = None
        """The action at which the reply was stopped."""

    def feed(self, text: str) -> bool:
        """Take the text of one more token; true when it is time to stop."""
        for piece in text.splitlines(keepends=True):
            body = piece.splitlines()[0]
            self._write(body)
            if body != piece:
                self._break()
        if not self._thinking:
            self.action = self._read()
        return self.action is not None

    def _write(self, piece: str) -> None:
        """Add to the line; a tag may have begun in its earlier part."""
        before = self.line.text
        start = max(0, len(before) - _TAG_LENGTH + 1)
        text = before + piece
        for tag in _TAGS.finditer(text, start):
            self._thinking = tag.group() == "<think>"
            if not self._thinking:
                self.lines.clear()
                self.line = LineEnd("")
                return self._write(text[tag.end() :])
        bare = text.lstrip() if not self.line.cut else text
        self.line = LineEnd(bare[-self.rule.room :], self.line.cut or len(bare) > self.rule.room)
        return None

    def _break(self) -> None:
        if stripped := self.line.text.strip():
            self.lines.append(LineEnd(stripped, self.line.cut))
        self.line = LineEnd("")

    def _read(self) -> str | None:
        ended = not self.line.text.strip()
        lines = list(self.lines) if ended else [*self.lines, self.line]
        lines = lines[-self.rule.fill :]
        return self.rule.action(lines, ended) if len(lines) == self.rule.fill else None
