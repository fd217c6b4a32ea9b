"""JSON schemas as forms of a line: a stated part of JSON Schema (draft 2020-12), of which every text has a limit.

A line is one JSON object. Properties are all written, in the order of the schema, as `json.dumps` writes them. Strings
hold printable characters without quotation marks and backslashes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.text_parts import Characters, Either, OneOf, Part, can_hold, chain, longest

_LONGEST, _DEEPEST, _WIDEST, _LISTED = 2000, 8, 10_000, 50
"""Largest length of a text, depth of a schema, number of values of an integer, and of items of an array."""
_NOTES = frozenset({"title", "description", "$schema"})
_KEYWORDS: dict[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"maxLength"}),
    "integer": frozenset({"minimum", "maximum"}),
    "boolean": frozenset(),
}
SUPPORTED = (
    "objects with properties, arrays with items and maxItems, strings with maxLength, integers with minimum and "
    "maximum, booleans, enum and const"
)
"""Supported part of JSON Schema, in words."""


class Form(ABC):
    """Form of a JSON value."""

    @property
    @abstractmethod
    def part(self) -> Part:
        """The texts that it admits."""

    @abstractmethod
    def write(self, value: Any) -> str | None:
        """Return the text of a value; None where the value has another form."""


@dataclass(frozen=True)
class ValueForm(Form):
    """One of some values, as JSON texts."""

    texts: tuple[str, ...]

    @property
    def part(self) -> Part:
        return OneOf(self.texts)

    def write(self, value: Any) -> str | None:
        text = _dump_json(value)
        return text if text in self._known else None

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.texts)


@dataclass(frozen=True)
class String(Form):
    """String of at most so many characters."""

    most: int

    @property
    def part(self) -> Part:
        return chain(OneOf(('"',)), Characters(self.most), OneOf(('"',)))

    def write(self, value: Any) -> str | None:
        return f'"{value}"' if isinstance(value, str) and can_hold(value, self.most) else None


@dataclass(frozen=True)
class Object(Form):
    """Object with these properties."""

    properties: tuple[tuple[str, Form], ...]

    @property
    def part(self) -> Part:
        parts: list[Part] = []
        for name, form in self.properties:
            parts += [OneOf((f"{', ' if parts else '{'}{_dump_json(name)}: ",)), form.part]
        return chain(*parts, OneOf(("}",)))

    def write(self, value: Any) -> str | None:
        if not isinstance(value, dict) or set(value) != {name for name, _ in self.properties}:
            return None
        texts = [(name, form.write(value[name])) for name, form in self.properties]
        if any(text is None for _, text in texts):
            return None
        return "{" + ", ".join(f"{_dump_json(name)}: {text}" for name, text in texts) + "}"


@dataclass(frozen=True)
class Array(Form):
    """Array of a bounded number of items."""

    items: Form
    least: int
    most: int

    @property
    def part(self) -> Part:
        after: Part = OneOf(("]",))
        item = self.items.part
        for number in range(self.most - 1, 0, -1):
            more = chain(OneOf((", ",)), item, after)
            after = more if number < self.least else Either((OneOf(("]",)), more))
        filled = chain(OneOf(("[",)), item, after)
        if not self.most:
            return OneOf(("[]",))
        return filled if self.least else Either((OneOf(("[]",)), filled))

    def write(self, value: Any) -> str | None:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            return None
        texts = [self.items.write(item) for item in value]
        return None if None in texts else f"[{', '.join(map(str, texts))}]"


@dataclass(frozen=True)
class JsonForm:
    """JSON object by a schema."""

    text: str
    """The schema, as JSON."""

    @cached_property
    def form(self) -> Form:
        """Form of the object."""
        return form_of(self.text)

    @cached_property
    def part(self) -> Part:
        """The texts that it admits."""
        return self.form.part

    def read(self, line: str) -> str | None:
        """Return a JSON text as it is written here; None where it is none of this schema."""
        try:
            return self.form.write(json.loads(line.strip("` ")))
        except (ValueError, RecursionError):
            return None

    def summary(self) -> str:
        """Return it for people."""
        return f"one line of JSON by this schema: {self.text}"


def json_form(schema: object) -> JsonForm:
    """Read a schema, given as JSON or as a mapping."""
    try:
        data = json.loads(schema) if isinstance(schema, str) else schema
        text = _dump_json(data)
    except (ValueError, TypeError, RecursionError):
        raise BadParameter(f"A schema must be JSON, which {str(schema)[:60]!r} is not.") from None
    if not isinstance(data, Mapping) or data.get("type") != "object":
        raise BadParameter(f"A schema must be that of an object: it supports {SUPPORTED}.")
    found = JsonForm(text)
    if (size := longest(found.part)) > _LONGEST:
        raise BadParameter(f"The schema has texts of up to {size} characters, and {_LONGEST} are the limit.")
    return found


@lru_cache(maxsize=64)
def form_of(text: str) -> Form:
    """Return the form of a schema."""
    return _form(json.loads(text), "the schema", 0)


def _form(data: Any, where: str, depth: int) -> Form:
    if not isinstance(data, Mapping) or depth > _DEEPEST:
        raise _bad(where, "is no schema of its own" if depth <= _DEEPEST else "is nested too deep")
    if "enum" in data or "const" in data:
        return _values(data, where)
    kind = data.get("type")
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        raise _bad(where, f"has the type {kind!r}")
    _check_keywords(data, _KEYWORDS[kind] | {"type"}, where)
    match kind:
        case "object":
            return _object(data, where, depth)
        case "array":
            least, most = _whole(data, "minItems", where, 0), _whole(data, "maxItems", where)
            _check_order("minItems", least, most, where)
            if most > _LISTED:
                raise _bad(where, f"has more than {_LISTED} items")
            return Array(_form(data.get("items"), f"items of {where}", depth + 1), least, most)
        case "string":
            return String(_whole(data, "maxLength", where))
        case "integer":
            return _integer(data, where)
        case _:
            return ValueForm(("true", "false"))


def _values(data: Mapping[str, Any], where: str) -> Form:
    """Return the form of listed values."""
    _check_keywords(data, frozenset({"enum", "const", "type"}), where)
    values = data["enum"] if "enum" in data else [data["const"]]
    if not isinstance(values, list) or not values or any(isinstance(value, dict | list) for value in values):
        raise _bad(where, f"has no list of plain values, but {str(values)[:60]}")
    return ValueForm(tuple(dict.fromkeys(map(_dump_json, values))))


def _object(data: Mapping[str, Any], where: str, depth: int) -> Form:
    properties = data.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise _bad(where, "has no properties")
    required = data.get("required", list(properties))
    if data.get("additionalProperties", False) is not False or not isinstance(required, list):
        raise _bad(where, "admits other properties, and all that are written are declared")
    if set(map(str, required)) != set(properties):
        raise _bad(where, "has properties that may be absent, and all are written")
    forms = ((name, _form(one, f"`{name}`", depth + 1)) for name, one in properties.items())
    return Object(tuple(forms))


def _integer(data: Mapping[str, Any], where: str) -> Form:
    least, most = _whole(data, "minimum", where, below=True), _whole(data, "maximum", where, below=True)
    _check_order("minimum", least, most, where)
    if most - least >= _WIDEST:
        raise _bad(where, f"has more than {_WIDEST} values")
    return ValueForm(tuple(map(str, range(least, most + 1))))


def _whole(
    data: Mapping[str, Any], keyword: str, where: str, default: int | None = None, *, below: bool = False
) -> int:
    """Return a bound of a schema; `below` where it may be below zero."""
    value = data.get(keyword, default)
    if type(value) is not int or (value < 0 and not below) or abs(value) > 10**9:
        raise _bad(where, f"needs {keyword} as a whole number, not {value!r}")
    return value


def _check_order(keyword: str, least: int, most: int, where: str) -> None:
    if least > most:
        raise _bad(where, f"has {keyword} above the largest")


def _check_keywords(data: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    if unknown := sorted(set(data) - known - _NOTES):
        raise _bad(where, f"has the keyword {unknown[0]!r}")


def _bad(where: str, why: str) -> BadParameter:
    return BadParameter(f"In the schema of a talk {where} {why}: supported are {SUPPORTED}.")


def _dump_json(value: Any) -> str:
    """Return a value as JSON of printable characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


__all__ = ["Form", "JsonForm", "form_of", "json_form"]
