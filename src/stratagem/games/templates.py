"""Templates: sentences with fields, each filled from a declared set: `I will play {action}`, `{yes|no}, {seat}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from stratagem.base.errors import BadParameter
from stratagem.games.reading import plain, unwrap_line
from stratagem.games.text_parts import OneOf, Part, chain, longest

_FIELD = re.compile(r"\{([^{}]*)\}")
_LONGEST = 2000
"""Largest number of characters of a text."""
_SHOWN = 12
"""Number of words of a set that are shown."""
Piece = tuple[str, ...]
"""A fixed text, or the set of a field."""


@dataclass(frozen=True)
class Template:
    """Sentence with fields."""

    text: str
    pieces: tuple[Piece, ...]
    """Fixed texts and the sets of fields, in order; one text is fixed."""

    @cached_property
    def part(self) -> Part:
        """The texts that it makes."""
        return chain(*map(OneOf, self.pieces))

    def read(self, line: str) -> str | None:
        """Return the text that a line is, whatever its case, spaces and marks; None where it is none."""
        found = self._pattern.fullmatch(plain(line)) or self._pattern.fullmatch(plain(unwrap_line(line)))
        if found is None:
            return None
        return "".join(_spellings_of(piece)[said] for piece, said in zip(self.pieces, found.groups(), strict=True))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        groups = (sorted(map(re.escape, _spellings_of(piece)), key=len, reverse=True) for piece in self.pieces)
        return re.compile("".join(f"({'|'.join(group)})" for group in groups))

    def summary(self) -> str:
        """Return it for people, with the first words of each set that it names."""
        fields = dict(zip(_FIELD.findall(self.text), self._sets, strict=True))
        named = "; ".join(f"{{{field}}}: {_some(words)}" for field, words in fields.items() if "|" not in field)
        return f"`{self.text}` with {named}" if named else f"`{self.text}`"

    @property
    def _sets(self) -> list[Piece]:
        """Sets of its fields, in order."""
        places = [place % 2 for place, piece in enumerate(_FIELD.split(self.text)) if place % 2 or piece]
        return [piece for piece, is_field in zip(self.pieces, places, strict=True) if is_field]


def _some(words: Piece) -> str:
    """Return the first words and the number of the others."""
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more


def _spellings_of(piece: Piece) -> dict[str, str]:
    """Return the texts of a piece by their spelling in small letters."""
    return {text.casefold(): text for text in piece}


def template_of(text: str, sets: Mapping[str, tuple[str, ...]]) -> Template:
    """Read a template; its fields name one of these sets, or list a set of their own."""
    if not text.isprintable() or text != " ".join(text.split()) or not text:
        raise BadParameter(f"talk needs `templates` of one plain line each, not {text!r}.")
    found = Template(text, tuple(_pieces(text, sets)))
    if longest(found.part) > _LONGEST:
        raise BadParameter(f"The template {text[:60]!r} makes texts of more than {_LONGEST} characters: shorten it.")
    return found


def _pieces(text: str, sets: Mapping[str, tuple[str, ...]]) -> Iterator[Piece]:
    for place, piece in enumerate(_FIELD.split(text)):
        if place % 2:
            yield _set_of(text, piece, sets)
        elif "{" in piece or "}" in piece:
            raise BadParameter(f"The template {text!r} has a bracket that is not closed: write a field as {{name}}.")
        elif piece:
            yield (piece,)


def _set_of(text: str, field: str, sets: Mapping[str, tuple[str, ...]]) -> Piece:
    """Return the set that a field names, or lists."""
    listed = tuple(dict.fromkeys(field.split("|")))
    if field in sets:
        return sets[field]
    if len(listed) > 1 and all(word and word == word.strip() for word in listed):
        return listed
    named = ", ".join(f"{{{name}}}" for name in sets) or "no sets of its own"
    raise BadParameter(
        f"The template {text!r} has the field {{{field}}}: a field is one of {named}, or lists its own words as "
        "{yes|no}."
    )
