"""How a free reply is read: literal strings on its last line, whole words only, and no guess."""

from __future__ import annotations

from collections.abc import Iterable

_WRAPPERS = "*_`'\"“”‘’.!?:;,<>()[]{}#- \t"
_LONGEST_LINE = 4096
"""A line beyond this is no answer; the end of it is read."""


def last_line(text: str) -> str:
    """The last line that is not empty, without the space around it."""
    for line in reversed(text[-4 * _LONGEST_LINE :].splitlines()):
        if stripped := line.strip():
            return stripped[-_LONGEST_LINE:]
    return ""


def plain(text: str) -> str:
    """The same words without case and with single spaces."""
    return " ".join(text.split()).casefold()


def unwrapped(line: str) -> str:
    """The line without quotation marks, emphasis and closing punctuation around it."""
    return line.strip(_WRAPPERS)


def find_literals(line: str, literals: Iterable[str]) -> set[str]:
    """Which of the literals stand in the line as whole words; one inside a longer one that also stands is left out.

    A literal of one or two characters must match in case too: the word "a" is not the action "A".
    """
    folded = line.casefold()
    same_length = len(folded) == len(line)
    spans: list[tuple[int, int, str]] = []
    for literal in literals:
        exact = len(literal) <= 2 or not same_length
        haystack, needle = (line, literal) if exact else (folded, literal.casefold())
        start = haystack.find(needle)
        while start >= 0:
            if _stands_alone(haystack, start, start + len(needle)):
                spans.append((start, start + len(needle), literal))
            start = haystack.find(needle, start + 1)
    return {text for start, end, text in spans if not any(_inside(start, end, other) for other in spans)}


def _inside(start: int, end: int, other: tuple[int, int, str]) -> bool:
    return other[0] <= start and end <= other[1] and other[1] - other[0] > end - start


def _stands_alone(line: str, start: int, end: int) -> bool:
    before = line[start - 1] if start else " "
    after = line[end] if end < len(line) else " "
    beyond = line[end + 1] if end + 1 < len(line) else " "
    first, last = line[start], line[end - 1]
    if _is_word(first) and _is_word(before):
        return False
    if _is_word(last) and _is_word(after):
        return False
    if first.isdigit() and before in "-.":
        return False
    return not (last.isdigit() and after in ".," and beyond.isdigit())


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
