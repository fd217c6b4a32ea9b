"""Texts as a terminal may show them: control characters are neither obeyed nor hidden.

Names, paths, replies of models and messages of servers come from anybody. ESC and the other control characters move
cursors, write clipboards and hide text; bidirectional controls change the order in which a line is read.
"""

from __future__ import annotations

import json
import re
from logging import Formatter, LogRecord
from unicodedata import category

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of invisible characters: controls, formats, halves of characters, private and unassigned ones."""
_SUSPECT = re.compile(r"[^\n -~]")


def visible(text: str) -> str:
    """Spell every invisible character as in a Python string, ends of lines aside."""
    return _SUSPECT.sub(lambda match: _spell_character(match[0]), text)


def json_text(data: object) -> str:
    """Format data as JSON for a reader: invisible characters are escaped, other letters stay."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return _SUSPECT.sub(lambda match: json.dumps(match[0])[1:-1] if is_unseen(match[0]) else match[0], text)


class VisibleFormatter(Formatter):
    """Formatter of logs, whose messages and tracebacks quote texts of anybody."""

    def format(self, record: LogRecord) -> str:
        """Return the text of a record."""
        return visible(super().format(record))


def is_unseen(character: str) -> bool:
    """Return whether a terminal shows nothing for a character, or obeys it."""
    return character != "\n" and category(character) in _UNSEEN


def _spell_character(character: str) -> str:
    return character.encode("unicode_escape").decode() if is_unseen(character) else character
