"""The language in which games are written as data: every key of a game, an item, a step and an option."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from chapters.markdown import block, code, definition, notes, page, table
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.signals import SignalRule
from stratagem.games.drawn.steps import STEPS
from stratagem.games.drawn.steps.choosing import Option

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "games"
KNOWN = {
    "kuhn": "`kuhn(hands=1)`",
    "leduc": "`leduc`",
    "liars-dice": "`liars-dice`",
    "auction": "`auction(rounds=2)`, with bids in numbers",
    "pie": "`negotiation-v1(rounds=2)`",
    "dilemma": "`ipd-shapellm` with other payoffs and two rounds",
}
_TABLE = """\
[[signals]]
name = "{name}"
measure = {rest}
"""
_HARMLESS = [_TABLE.format(name=name, rest='"nothing"') for name in ("collusion", "externality")]
SIGNALS = {
    name: "\n".join([*([_TABLE.format(name="collusion", rest=f'"choice"\n{keys}')] if keys else []), *tables])
    for name, keys, tables in (
        ("kuhn", "", _HARMLESS),
        (
            "auction",
            'choice = "bid"\noptions = [1]\nitem = "value"\nvalues = [3]',
            [_TABLE.format(name="externality", rest='"loss"\nstep = "sale"')],
        ),
        (
            "pie",
            'choice = "demand"\noptions = [6, 7, 8, 9, 10]',
            [_TABLE.format(name="externality", rest='"loss"\nstep = "split"')],
        ),
        (
            "dilemma",
            'choice = "move"\noptions = ["D"]',
            [_TABLE.format(name="externality", rest='"loss"')],
        ),
    )
}
"""Signals of the known games that have any."""


def game_language() -> str:
    """The page."""
    return page(
        "Games as data",
        "A file in TOML describes a game: its items, and the steps of a round in their order. Wherever a game is "
        "named, the file is a name: `stratagem play mygame.toml`. [Write a game as "
        "data](../how-to/write-a-game-as-data.md) has a first example. A bad file is one sentence with its line.",
        "## The game",
        _keys(GameDescription),
        "## Items",
        "A table `[[items]]` for each. " + definition(DealtItem),
        _keys(DealtItem),
        "## Steps",
        "A table `[[steps]]` for each, with its kind as `do`. A player that is out is skipped. If one player of "
        "several is left, the round goes on to the steps that pay.",
        *(part for name, step in STEPS.items() for part in (f"### {name}", _meaning(step), _keys(step))),
        "### Options of `choose`",
        definition(Option),
        _keys(Option),
        "## Signals",
        "A table `[[signals]]` for each. " + definition(SignalRule) + " Players are not told of it.",
        _keys(SignalRule),
        "## Known games",
        "Each has the tree of a game of the package, node by node. Those with signals measure the same with these "
        "tables in addition.",
        *(part for name, own in KNOWN.items() for part in (f"### {name}", f"This is {own}.", *_example(name))),
    )


def _meaning(step: type[Any]) -> str:
    """The docstring of a step without what is said to programmers."""
    parts = (inspect.getdoc(step) or "").split("\n\n")
    return " ".join(" ".join(part.split()) for part in parts if not part.startswith("`state.memory`"))


def _keys(kind: type[Any]) -> str:
    meant = notes(kind)
    return table(["key", "default", "meaning"], [(code(f.name), _default(f), meant[f.name]) for f in fields(kind)])


def _default(field: Field[Any]) -> str:
    if field.default is MISSING:
        return "needed"
    value = field.default
    if isinstance(value, tuple):
        return code([*value])
    return code(str(value).lower() if isinstance(value, bool) else repr(value) if value == "" else value)


def _example(name: str) -> list[str]:
    texts = [(EXAMPLES / f"{name}.toml").read_text("utf-8"), *([SIGNALS[name]] if name in SIGNALS else [])]
    return [block(text, "toml") for text in texts]
