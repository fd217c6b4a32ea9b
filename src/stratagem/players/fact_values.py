"""Facts of a view as named values, numbers and short texts alone, for rules that people write or that are learnt.

A field `past` of several rounds gives `past length`, `past[-1] bid`, `past count 2` and so on. Where facts are one
text, as those of OpenSpiel, its parts are read: `Private`, `Round1[-1]`, `seen[-1]`, and the words of the situation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from stratagem.base.errors import StratagemError
from stratagem.games.base import View

FactValue: TypeAlias = int | float | str
_LONGEST = 40
"""Largest number of characters of a text that is one value."""
_ENDS = 4
"""Elements of a sequence that are named from each end."""
_LETTERS = 8
"""Largest number of letters of a text that is read letter by letter, as a line of betting is."""
_DEPTH = 3
"""Depth to which facts within facts are followed."""
_MANY = 32
"""Number of legal actions up to which each is a fact."""
_LABELLED = re.compile(r"\[([^\[\]:]+): ?([^\[\]]*)\]")
_SAID = re.compile(r"([A-Z][^:.\n]{0,40}): ([^.\n]*)")
_NUMBER = re.compile(r"-?\d{1,9}")


class FactValues(dict[str, FactValue]):
    """Facts by name; a fact that is not there is no number, which is equal to nothing, less and more than nothing."""

    def __missing__(self, name: str) -> float:
        return math.nan

    def number(self, name: str) -> float:
        """Return a fact that is compared by size; a text is no number."""
        value = self[name]
        return math.nan if isinstance(value, str) else value


def fact_values(view: View[Any]) -> FactValues:
    """Return the facts of a view, and which actions are legal."""
    found = FactValues(seat=view.seat)
    for name, value in _fields(view.facts):
        _add(found, name, value, _DEPTH)
    information = getattr(view.facts, "information", None)
    if isinstance(information, str):
        _add_text(found, information)
        _add_words(found, view.situation)
    choices = view.choices
    found["actions"] = choices.count
    if choices.count <= _MANY:
        found |= {f"can {action}": "yes" for action in choices if len(action) <= _LONGEST}
    return found


def _fields(facts: object) -> Iterator[tuple[str, object]]:
    """Yield the fields of facts, and what their class says of them by properties."""
    if isinstance(facts, Mapping):
        yield from ((str(name), value) for name, value in facts.items())
        return
    names = [field.name for field in fields(facts)] if is_dataclass(facts) else [*getattr(facts, "_fields", ())]
    if not names:
        yield ("facts", facts) if isinstance(facts, int | float | str | tuple | list) else ("", None)
        return
    told = [name for name, member in vars(type(facts)).items() if isinstance(member, property) and name[:1] != "_"]
    for name in dict.fromkeys((*names, *told)):
        try:
            yield name, getattr(facts, name)
        except (StratagemError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            continue  # a property may have no meaning here, as the last of no rounds


def _add(found: FactValues, name: str, value: object, depth: int) -> None:
    """Add a value by its name, and the parts of one that has some."""
    if isinstance(value, bool):
        found[name] = "yes" if value else "no"
    elif isinstance(value, int):
        found[name] = int(value)  # a plain number, also of an enumeration, so that it can be written down
    elif isinstance(value, float) and math.isfinite(value):
        found[name] = float(value)
    elif isinstance(value, str):
        _add_short(found, name, str.__str__(value), depth)
    elif depth and isinstance(value, Sequence) and not hasattr(value, "_fields"):
        _add_sequence(found, name, value, depth)
    elif depth and (hasattr(value, "_fields") or is_dataclass(value)):
        for part, inner in _fields(value):
            _add(found, f"{name} {part}", inner, depth - 1)


def _add_short(found: FactValues, name: str, text: str, depth: int) -> None:
    """Add a short text, and its letters where it is a line of them."""
    if len(text) <= _LONGEST:
        found[name] = text
    if depth == _DEPTH and text.isupper() and len(text) <= _LETTERS:
        _add_sequence(found, name, text, 0)


def _add_sequence(found: FactValues, name: str, values: Sequence[Any], depth: int) -> None:
    """Add the length of a sequence, its first and last elements, and how often each value is in it."""
    size = len(values)
    found[f"{name} length"] = size
    for place in range(min(size, _ENDS)):
        for number in (place, place - min(size, _ENDS)):
            inner = values[number]
            if depth:
                _add(found, f"{name}[{number}]", inner, depth - 1)
            elif isinstance(inner, str):
                found[f"{name}[{number}]"] = inner
    for value in values:
        if isinstance(value, int | str) and len(str(value)) <= _LONGEST:
            key = f"{name} count {value}"
            found[key] = int(found.get(key, 0)) + 1


def _add_text(found: FactValues, text: str) -> None:
    """Add the parts of an information state in an engine's words: labelled ones, or its words one by one."""
    if labelled := _LABELLED.findall(text):
        for name, body in labelled:
            _add_listed(found, name, body)
    elif len(text) <= 1000:
        _add_listed(found, "seen", text)


def _add_words(found: FactValues, situation: str) -> None:
    """Add what the situation says in such sentences as `Your card: K.` in it."""
    for name, body in _SAID.findall(situation[:2000]):
        _add_listed(found, name, body)


def _add_listed(found: FactValues, name: str, body: str) -> None:
    words = [_as_number(word) for word in re.split(r"[,\s]+", body) if word]
    if len(words) == 1:
        found[name] = words[0]
    found[f"{name} words"] = len(words)
    for place in range(min(len(words), _ENDS)):
        for number in (place, place - min(len(words), _ENDS)):
            _add_word(found, f"{name}[{number}]", words[number])


def _add_word(found: FactValues, name: str, word: FactValue) -> None:
    """Add a word, and the numbers that it joins, as `2-5` does."""
    found[name] = word
    parts = re.split(r"[-x]", word) if isinstance(word, str) else []
    if len(parts) > 1 and all(map(_NUMBER.fullmatch, parts)):
        for number, part in enumerate(parts):
            found[f"{name} part {number}"] = int(part)


def _as_number(word: str) -> FactValue:
    return int(word) if _NUMBER.fullmatch(word) else word[:_LONGEST]
