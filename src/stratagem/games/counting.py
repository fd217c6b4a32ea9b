"""Numbers of things in words, for the descriptions of games."""

from __future__ import annotations

_WORDS = dict(
    enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1)
) | {20: "twenty"}


def in_words(number: int) -> str:
    """Write a number: `three`, `30`."""
    return _WORDS.get(number, str(number))


def count_in_words(number: int, thing: str) -> str:
    """Write a number of things: `one round`, `six rounds`, `30 rounds`."""
    return f"{in_words(number)} {thing}{'s' * (number != 1)}"
