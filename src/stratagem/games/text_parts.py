"""Parts of which a constrained line is made: one of some texts, characters of a string, a sequence, alternatives.

They are a regular language without loops. A space before a varying part belongs to that part, since most tokenizers
write a word together with the space before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from stratagem.games.key import Chance

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DRAWN = 12
"""Longest string that is drawn."""


@dataclass(frozen=True)
class OneOf:
    """One of some texts, none of them empty."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Characters:
    """At most so many printable characters, without quotation marks and backslashes."""

    most: int


@dataclass(frozen=True)
class Chain:
    """Parts one after another."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Either:
    """One of several parts."""

    parts: tuple[Part, ...]


Part = OneOf | Characters | Chain | Either


def can_hold(text: str, most: int) -> bool:
    """Return whether a text is one of `Characters`."""
    return len(text) <= most and text.isprintable() and not set('"\\') & set(text)


def chain(*parts: Part) -> Part:
    """Return parts one after another, with neighbouring texts joined."""
    joined: list[Part] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Chain) else (part,):
            before = joined[-1] if joined else None
            if isinstance(before, OneOf) and len(before.texts) == 1:
                joined[-1:] = _join_part(before.texts[0], piece)
            else:
                joined.append(piece)
    return joined[0] if len(joined) == 1 else Chain(tuple(joined))


def _join_part(text: str, part: Part) -> list[Part]:
    """Return a fixed text and a part as one part where that is possible; spaces before the part go to it."""
    if isinstance(part, OneOf) and len(part.texts) == 1:
        return [OneOf((text + part.texts[0],))]
    bare = text.rstrip(" ")
    if bare == text or isinstance(part, Characters):
        return [OneOf((text,)), part]
    return [*([OneOf((bare,))] if bare else []), prefix_part(part, text[len(bare) :])]


def prefix_part(part: Part, text: str) -> Part:
    """Return the part with a text before it."""
    match part:
        case OneOf(texts):
            return OneOf(tuple(text + other for other in texts))
        case Either(parts):
            return Either(tuple(prefix_part(other, text) for other in parts))
        case Chain((first, *others)):
            return Chain((prefix_part(first, text), *others))
        case _:
            return Chain((OneOf((text,)), part))


def longest(part: Part) -> int:
    """Return the number of characters of the longest text."""
    match part:
        case OneOf(texts):
            return max(map(len, texts))
        case Characters(most):
            return most
        case Chain(parts):
            return sum(map(longest, parts))
        case Either(parts):
            return max(map(longest, parts))


def num_texts(part: Part) -> float:
    """Return an upper bound of the number of texts; infinity where they are not listed."""
    match part:
        case OneOf(texts):
            return float(len(texts))
        case Characters():
            return math.inf
        case Chain(parts):
            return math.prod(map(num_texts, parts))
        case Either(parts):
            return math.fsum(map(num_texts, parts))


def texts_of(part: Part) -> Iterator[str]:
    """Yield every text of a part without strings."""
    match part:
        case OneOf(texts):
            yield from texts
        case Chain(parts):
            yield from map("".join, product(*map(list, map(texts_of, parts))))
        case Either(parts):
            for other in parts:
                yield from texts_of(other)
        case Characters():
            raise ValueError("strings of free characters are not listed")


def draw_text(part: Part, chance: Chance) -> str:
    """Draw a text, part by part; a string is some letters."""
    match part:
        case OneOf(texts):
            return texts[chance.integer(len(texts))]
        case Characters(most):
            length = chance.at("length").integer(min(most, _DRAWN) + 1)
            return "".join(_LETTERS[chance.at("letter", place).integer(len(_LETTERS))] for place in range(length))
        case Chain(parts):
            return "".join(draw_text(other, chance.at(place)) for place, other in enumerate(parts))
        case Either(parts):
            return draw_text(parts[chance.at("way").integer(len(parts))], chance.at("part"))
