"""Facts that a template can name: what a seat may know, by declared names, as texts, numbers, truths and lists."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any, Union, get_args, get_origin, get_type_hints

from stratagem.games.base import View
from stratagem.language.prompting.past import NOTHING, Past


@dataclass(frozen=True)
class TemplateScene:
    """Turn that a prompt is written for: a seat's view, and its memory of earlier episodes."""

    view: View[Any]
    past: Past = NOTHING

    @property
    def game(self) -> Any:
        """Game of the view."""
        return self.view.game

    @property
    def facts(self) -> Any:
        """Knowledge of the seat; refused under a disguise."""
        return self.view.facts


@dataclass(frozen=True)
class PromptFact:
    """A fact by its name."""

    name: str
    about: str
    read: Callable[[Any], Any]
    """Function from the scene to the value; for a field of an item, from the item."""
    items: tuple[PromptFact, ...] = ()
    """Facts of an item, where the value is a list."""


def listed_fact(name: str, about: str, read: Callable[[Any], Iterable[Any]]) -> PromptFact:
    """Return a fact that is a list of plain values, each of which a loop names `item`."""
    return PromptFact(name, about, read, (PromptFact("item", "The value.", lambda value: value),))


def record_fact(
    name: str, about: str, read: Callable[[Any], Iterable[Mapping[str, Any]]], fields: Mapping[str, str]
) -> PromptFact:
    """Return a fact that is a list of records with these fields, each with its description."""
    return PromptFact(
        name, about, read, tuple(PromptFact(field, text, itemgetter(field)) for field, text in fields.items())
    )


_PLAIN = (str, int, float, bool, type(None))


@lru_cache(maxsize=256)
def declared_facts(kind: type[object]) -> tuple[PromptFact, ...]:
    """Return the fields and properties that a class of facts declares, by their names; others have no words."""
    hints = get_type_hints(kind) if hasattr(kind, "_fields") else {}
    fields = getattr(kind, "_fields", ())
    found = [_declared_fact(name, hint, attrgetter(name)) for name, hint in hints.items() if name in fields]
    for name, value in vars(kind).items():
        if isinstance(value, property) and value.fget is not None and name[0] != "_":
            hint = get_type_hints(value.fget).get("return", object)
            found.append(_declared_fact(name, hint, attrgetter(name), (value.__doc__ or "").strip()))
    return tuple(fact for fact in found if fact is not None)


def _declared_fact(name: str, hint: Any, read: Callable[[Any], Any], about: str = "") -> PromptFact | None:
    """Return a fact by the type of its field; None where it is neither plain nor a list of such."""
    parts = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        kinds = {part for part in parts if part is not type(None)}
        return _declared_fact(name, kinds.pop(), read, about) if len(kinds) == 1 else PromptFact(name, about, read)
    if hint in _PLAIN or (get_origin(hint) is not None and str(hint).startswith("typing.Literal")):
        return PromptFact(name, about, read)
    if get_origin(hint) in (tuple, list) and parts:
        item = _declared_fact("item", parts[0], lambda value: value)
        if hasattr(parts[0], "_fields"):
            return PromptFact(name, about, read, declared_facts(parts[0]))
        return None if item is None else PromptFact(name, about, read, (item,))
    return None


def in_words(value: Any) -> str:
    """Return a plain value as text; nothing for what is not there."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
