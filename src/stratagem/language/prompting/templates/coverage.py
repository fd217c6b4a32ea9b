"""Gaps of a template: facts of the game that it never names, and situations that it tells alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stratagem.games.base import View
from stratagem.language.prompting.base import Style
from stratagem.language.prompting.templates.facts import game_facts
from stratagem.language.prompting.templates.style import PromptTemplate

_SHOWN = 120
"""Number of characters of a situation that are shown."""


def find_omissions(style: Style, views: Iterable[View[Any]]) -> Iterator[str]:
    """Yield a sentence for each kind of thing that the prompts of these situations leave out."""
    if not isinstance(style, PromptTemplate) or not (views := list(views)):
        return
    yield from _unnamed_actions(style, views[0])
    if pair := _alike(style, views):
        first, second = (_in_short(view.situation) for view in pair)
        yield f"Two situations have the same prompt: {first!r} and {second!r}."


def _in_short(text: str) -> str:
    """Return a text in one line, cut at a limit."""
    line = " / ".join(text.split("\n"))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _unnamed_actions(style: PromptTemplate, view: View[Any]) -> Iterator[str]:
    names = style.names
    if missing := [fact.name for fact in game_facts(view) if fact.name not in names and "situation" not in names]:
        yield f"Facts of the game that the text never names: {', '.join(missing)}."
    if "rules" not in names:
        yield "The text never names the rules: it has to tell them in its own words."
    if not names & {"actions", "choices", "places", "labels"}:
        yield "The text never names the legal actions."


def _alike(style: Style, views: list[View[Any]]) -> tuple[View[Any], View[Any]] | None:
    """Return two situations of one seat that differ in the game's words and have the same prompt."""
    known: dict[tuple[int, str], View[Any]] = {}
    for view in views:
        text = "\0".join(f"{message.role}\0{message.content}" for message in style.messages(view))
        before = known.setdefault((view.seat, text), view)
        if before.situation != view.situation:
            return before, view
    return None
