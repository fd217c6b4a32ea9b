"""Numbers of things in words, and names of several, for the descriptions of games."""

from __future__ import annotations

_WORDS = dict(
    enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1)
) | {20: "twenty"}

_IRREGULAR = {
    "die": "dice",
    "man": "men",
    "woman": "women",
    "child": "children",
    "person": "people",
    "foot": "feet",
    "goose": "geese",
    "tooth": "teeth",
    "mouse": "mice",
    "ox": "oxen",
    **{
        f"{one}f": f"{one}ves"
        for one in ("cal", "el", "hal", "hoo", "lea", "loa", "scar", "sel", "shea", "shel", "thie", "wol")
    },
    **{one: f"{one[:-2]}ves" for one in ("knife", "life", "wife")},
    **{one: one for one in ("deer", "fish", "moose", "series", "sheep", "species")},
    **{one: f"{one}es" for one in ("echo", "potato", "tomato")},
    "quiz": "quizzes",
}
"""Names of several that no rule gives."""


def in_words(number: int) -> str:
    """Write a number: `three`, `30`."""
    return _WORDS.get(number, str(number))


def count_in_words(number: int, thing: str) -> str:
    """Write a number of things: `one round`, `six rounds`, `30 rounds`."""
    return f"{in_words(number)} {thing if number == 1 else plural_of(thing)}"


def plural_of(thing: str) -> str:
    """Name several of a thing: `chips`, `pennies`, `boxes`, `dice`, `gold-leaves`; what is in capitals stays: `USD`."""
    if len(thing) > 1 and thing.isupper():
        return thing
    before, stroke, last = thing.rpartition("-")
    if (several := _IRREGULAR.get(last.lower())) is not None:
        return before + stroke + (several.capitalize() if last[0].isupper() else several)
    if thing.endswith("y") and thing[-2:-1] not in (*"aeiou", ""):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith(("s", "x", "z", "ch", "sh")) else f"{thing}s"
