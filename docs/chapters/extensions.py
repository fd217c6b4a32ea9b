"""The types for extensions: every name in `__all__` of the public modules, with its members."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module

from chapters.markdown import block, code, definition, notes, page, rule, table
from chapters.python import MODULES, signature


def extensions() -> str:
    """The page."""
    return page(
        "Types for extensions",
        "A game, a player, a metric, a loss, an advantage estimator, an engine or an algorithm of your own is a class "
        "of these types. *must be given* marks a member without a default. The guides "
        "([game](../how-to/add-a-game.md), [player](../how-to/add-a-player.md), [metric](../how-to/add-a-metric.md), "
        "[loss](../how-to/add-a-loss.md), [advantage estimator](../how-to/add-an-advantage-estimator.md), "
        "[engine](../how-to/add-an-engine.md), [algorithm](../how-to/add-an-algorithm.md)) show complete examples.",
        *(_module(name) for name in MODULES),
    )


def _module(name: str) -> str:
    module = import_module(name)
    parts = (_entry(public, getattr(module, public)) for public in module.__all__)
    return "\n\n".join((f"## {code(name)}", f"{rule(module)}", *(part for part in parts if part)))


def _entry(name: str, thing: object) -> str:
    """A class with its members, or a function with its signature; a constant or an alias stays in the source."""
    if inspect.isclass(thing) and thing.__module__.startswith("stratagem."):
        members = tuple(_members(thing))
        shown = table(("member", "meaning"), members) if members else ""
        return f"### {name}\n\n{definition(thing)}\n\n{shown}".rstrip()
    if callable(thing) and inspect.isfunction(inspect.unwrap(thing)):
        return f"### {name}\n\n{block(signature(name, inspect.unwrap(thing)))}\n\n{definition(thing)}"
    return ""


def _parameters(function: Callable[..., object]) -> str:
    names = list(inspect.signature(function).parameters)
    return ", ".join(name for name in names if name not in ("self", "cls"))


def _members(cls: type) -> Iterator[tuple[str, str]]:
    """Fields with a note, then methods and properties with a docstring, from the class and its bases."""
    noted = {name: note for name, note in notes(cls).items() if not name.startswith("_")}
    yield from ((code(name), note) for name, note in noted.items())
    abstract: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
    bases = [base for base in cls.__mro__ if base.__module__.startswith("stratagem.")]
    for name in dict.fromkeys(name for base in bases for name in vars(base) if not name.startswith("_")):
        member = inspect.getattr_static(cls, name)
        function = getattr(member, "__func__", member)
        described = inspect.isfunction(function) or isinstance(member, property)
        if name in noted or not described or not rule(function):
            continue
        called = f"{name}({_parameters(function)})" if inspect.isfunction(function) else name
        yield code(called), rule(function) + (" *must be given*" if name in abstract else "")
