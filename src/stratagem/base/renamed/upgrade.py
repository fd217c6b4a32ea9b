"""Upgrade of settings: old keys are replaced by new ones, in all tables, and what would be lost is listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, get_args, get_origin, runtime_checkable

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from stratagem.base.renamed.keys import renamed_keys
from stratagem.base.renamed.renaming import LostSetting, Renaming
from stratagem.base.setting_types import TABLES, annotation_at, is_settings, options_of

DEEPEST = 64
"""Maximum depth of tables in one another; what is nested deeper is left as it is."""


@runtime_checkable
class NamedReader(Protocol):
    """Reader of an object by its name and options, as of a loss: an option may have a new name, too."""

    def upgrade_source(self, source: object, upgrade: Upgrade, places: tuple[str, str]) -> object:
        """Return the text or the table with new names."""


@dataclass
class Upgrade:
    """Old keys that were found, and what would be lost."""

    renamed: dict[str, str] = field(default_factory=dict)
    """Place of an old key, and what is written now."""
    lost: list[str] = field(default_factory=list)
    """Clauses about values that no new setting has."""

    def table(self, cls: type[BaseModel], data: Mapping[str, Any], place: str = "", was: str = "") -> dict[str, Any]:
        """Return a table of settings with new keys; `place` is its place, and `was` the place in the old settings."""
        was, known = was or place, {old: new for old, new in renamed_keys(cls).items() if old not in cls.model_fields}
        table = {key: value for key, value in data.items() if key not in known}
        old_of = {known[old].new: old for old in data if old in known}
        for old in [key for key in data if key in known]:
            self.move(table, old, data, known[old], (place, was))
        for key in [key for key in table if key in cls.model_fields]:
            old = join_place(was, old_of.get(key, key))
            table[key] = self._field(cls.model_fields[key], table[key], join_place(place, key), old)
        return table

    def move(
        self, table: dict[str, Any], old: str, data: Mapping[str, Any], renaming: Renaming, places: tuple[str, str]
    ) -> None:
        """Set the new keys of an old one; `places` are those of the table, now and in the old settings."""
        place, was = places
        self.renamed[join_place(was, old)] = _instead(renaming, place)
        try:
            for where, value in renaming.move_value(data[old], data).items():
                _set(table, where, value)
        except LostSetting as lost:
            self.lost.append(f"{join_place(was, old)} ({lost})")

    def _field(self, info: FieldInfo, value: Any, place: str, was: str) -> Any:
        """Upgrade the value of a setting."""
        for reader in _readers(info.metadata):
            return reader.upgrade_source(value, self, (place, was))
        return self._value(info.annotation, value, place, was)

    def _value(self, annotation: Any, value: Any, place: str, was: str) -> Any:
        """Upgrade a value of an annotated type: a table of settings, or tables and lists of them."""
        if place.count(".") > DEEPEST:
            return value
        if isinstance(value, Mapping):
            kinds = [option for option in options_of(annotation) if is_settings(option)]
            if kinds:
                return self.table(_choose_settings(kinds, value), value, place, was)
            items = next((get_args(one)[1] for one in options_of(annotation) if get_origin(one) in TABLES), None)
            return {
                key: self._value(items, one, join_place(place, key), join_place(was, key)) for key, one in value.items()
            }
        if isinstance(value, list | tuple):
            items = annotation_at(annotation, 0)
            return [self._value(items, one, f"{place}.{at}", f"{was}.{at}") for at, one in enumerate(value)]
        return value


def join_place(place: str, key: str) -> str:
    """Return the place of a key in a table."""
    return f"{place}.{key}" if place else key


def _instead(renaming: Renaming, place: str) -> str:
    """Write what stands in place of an old key."""
    if not renaming.new:
        return ""
    if renaming.is_key:
        return join_place(place, renaming.new)
    return f"`{renaming.new}` in {place}" if place else f"`{renaming.new}`"


def _set(table: dict[str, Any], place: str, value: Any) -> None:
    """Set a value at a place below a table, unless there is another one."""
    *tables, key = place.split(".")
    for name in tables:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise LostSetting(f"`{name}` is given, too")
        table[name] = table = dict(inner)
    given = table.get(key, value)
    if isinstance(given, dict) and isinstance(value, dict):
        both = [name for name in value if given.get(name, value[name]) != value[name]]
        table[key] = {**value, **given}
        place, given, value = (f"{place}.{both[0]}", given[both[0]], value[both[0]]) if both else (place, None, None)
    else:
        table[key] = given
    if given != value:
        raise LostSetting(f"`{place}` is given, too, as {given!r}")


def _readers(metadata: list[Any]) -> Iterator[NamedReader]:
    """Yield the reader of a named object, by the validator that calls it."""
    for one in metadata:
        reader = getattr(getattr(one, "func", None), "reader", None)
        if isinstance(reader, NamedReader):
            yield reader


def _choose_settings(kinds: list[type[BaseModel]], value: Mapping[str, Any]) -> type[BaseModel]:
    """Return the settings that the tag of a table selects, as `learner = "naive"`; else the first."""
    return next((kind for kind in kinds if len(kinds) > 1 and _has_tag(kind, value)), kinds[0])


def _has_tag(kind: type[BaseModel], value: Mapping[str, Any]) -> bool:
    return any(
        get_args(info.annotation) == (info.default,) and value.get(name) == info.default
        for name, info in kind.model_fields.items()
    )
