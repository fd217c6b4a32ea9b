"""Parsing of a free reply: literal strings on its last line, whole words only, and no guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

_WRAPPERS = "*_`'\"“”‘’.!?:;,<>()[]{}#- \t"
_LONGEST_LINE = 4096
"""Longest line in characters; of a longer one the end is read."""
_SIGNS = "-\u2212\u2013."
"""Signs that change the number after them: minus signs and the decimal point."""


def last_line(text: str) -> str:
    """Return the last line that is not empty, without the space around it."""
    for line in reversed(text[-4 * _LONGEST_LINE :].splitlines()):
        if stripped := line.strip():
            # the mark keeps a word that is cut in two from being read as a word of its own
            return stripped if len(stripped) <= _LONGEST_LINE else "_" + stripped[-_LONGEST_LINE:]
    return ""


def plain(text: str) -> str:
    """Normalise a text: lower case, single spaces."""
    return " ".join(text.split()).casefold()


def by_plain(literals: Iterable[str]) -> dict[str, str]:
    """Map literals by their plain spelling, without those that share one."""
    spellings: dict[str, list[str]] = {}
    for literal in literals:
        spellings.setdefault(plain(literal), []).append(literal)
    return {spelling: alike[0] for spelling, alike in spellings.items() if len(alike) == 1}


def unwrap_line(line: str) -> str:
    """Strip quotation marks, emphasis and closing punctuation from a line; a number keeps its sign.

    A line that begins with the sign for not, or ends as a question, is left as it is.
    """
    bare = line.strip(_WRAPPERS)
    start = line.find(bare)
    if not bare:
        return bare
    denied = "!" in line[:start] or "?" in line[start + len(bare) :]
    return bare if not denied and _stands_alone(line, start, start + len(bare)) else line


class FoundLiteral(NamedTuple):
    """A literal and its position in a line."""

    start: int
    end: int
    literal: str


def find_literals(line: str, literals: Iterable[str]) -> list[FoundLiteral]:
    """Where literals stand in the line as whole words; one inside a longer one that also stands is left out.

    A literal of one or two characters must match in case too: the word "a" is not the action "A".
    """
    folded = line.casefold()
    same_length = len(folded) == len(line)
    matches: list[FoundLiteral] = []
    for literal in literals:
        exact = len(literal) <= 2 or not same_length
        haystack, needle = (line, literal) if exact else (folded, literal.casefold())
        start = haystack.find(needle)
        while start >= 0:
            if _stands_alone(haystack, start, start + len(needle)):
                matches.append(FoundLiteral(start, start + len(needle), literal))
            start = haystack.find(needle, start + 1)
    return list(_outermost(matches))


def _outermost(matches: list[FoundLiteral]) -> Iterator[FoundLiteral]:
    """Drop the matches inside a longer one; return the others in the order of the line."""
    reach, longest = -1, FoundLiteral(-1, -1, "")
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if match.end > reach or match[:2] == longest[:2]:
            yield match
        if match.end > reach:
            reach, longest = match.end, match


def _stands_alone(line: str, start: int, end: int) -> bool:
    before = line[start - 1] if start else " "
    ahead = line[start - 2] if start > 1 else " "
    after = line[end] if end < len(line) else " "
    beyond = line[end + 1] if end + 1 < len(line) else " "
    first, last = line[start], line[end - 1]
    if _is_word(first) and _is_word(before):
        return False
    if _is_word(last) and _is_word(after):
        return False
    if first.isdigit() and (before in _SIGNS or (before == "," and ahead.isdigit())):
        return False
    return not (last.isdigit() and (after in _SIGNS or after == ",") and beyond.isdigit())


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
