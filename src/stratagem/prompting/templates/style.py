"""Prompt style that is a text file: a head with the format of the reply, and the text of each message.

mark = "Action:"      # the head, in TOML
[system]              # a message of this role, up to the next such line
You play a game.
[user]
{rules}
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple, cast

from pydantic import Field

from stratagem.errors import BadParameter
from stratagem.games.base import View
from stratagem.prompting.base import Message, Role, Style
from stratagem.prompting.past import NOTHING, Past
from stratagem.prompting.templates.fact import TemplateScene
from stratagem.prompting.templates.facts import facts_by_name
from stratagem.prompting.templates.filling import Filling, check_names
from stratagem.prompting.templates.language import Node, names_in, parse_template
from stratagem.prompting.templates.lookup import PREFIX, SUFFIX, read_template
from stratagem.settings import Settings

_ROLE = re.compile(r"\[(system|user|assistant)\]\s*")


class TemplateHead(Settings):
    """Head of a template: the format of the reply, and what the text tells of the past."""

    mark: str = ""
    """Mark before the action where a reply may reason first; a constrained reply begins there."""
    lead: str = ""
    """Text between the mark and the action."""
    close: str = ""
    """Text that may follow the action; of a free reply only the part before it is read."""
    reason: bool | None = None
    """True where replies to learn from reason before the action, and False where they do not; by default they do where
    there is a mark."""
    memory: int | None = Field(default=None, ge=0)
    """Number of past rounds that the text tells; without it all of them."""
    earlier_episodes: bool = False
    """True to tell earlier episodes too, where the seat remembers them."""


class TemplateMessage(NamedTuple):
    """Role and text of a message of a template."""

    role: Role
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class PromptTemplate(Style):
    """Prompt style of a text; equal texts are equal styles."""

    name: str
    text: str
    mark: str = ""
    lead: str = ""
    close: str = ""
    reason: bool | None = None
    shown_rounds: int | None = None
    earlier_episodes: bool = False

    @property
    def memory(self) -> int | None:
        return self.shown_rounds

    @property
    def recalls(self) -> bool:
        return self.earlier_episodes

    @property
    def names(self) -> frozenset[str]:
        """Names that the text says."""
        return frozenset(name for message in parsed(self.name, self.text)[1] for name in names_in(message.nodes))

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[Message]:
        scene = TemplateScene(view, past if self.earlier_episodes else NOTHING)
        facts, filling = facts_by_name(view), Filling(self.name, scene)
        found = []
        for message in parsed(self.name, self.text)[1]:
            check_names(message.nodes, facts, self.name, _named(view))
            if text := filling.write(message.nodes, facts).strip("\n"):
                found.append(Message(message.role, text))
        if not found:
            raise BadParameter(f"The template {self.name} writes no text in {_named(view)}.")
        return found


def _named(view: View[Any]) -> str:
    """Return the name of a game for messages; a disguised one is not told."""
    return view.game.spec.name if "game" in facts_by_name(view) else "a game under a disguise"


@lru_cache(maxsize=64)
def parsed(name: str, text: str) -> tuple[TemplateHead, tuple[TemplateMessage, ...]]:
    """Return the head and the messages of a template."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _ROLE.fullmatch(line)]
    if not starts:
        raise BadParameter(f"The template {name} has no message: begin one with a line [user].")
    return _head(name, "\n".join(lines[: starts[0]])), tuple(_messages(name, lines, starts))


def _messages(name: str, lines: list[str], starts: list[int]) -> Iterator[TemplateMessage]:
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        role = cast("Role", lines[start].strip()[1:-1])
        yield TemplateMessage(role, parse_template("\n".join(lines[start + 1 : end]), name, start + 2))


def _head(name: str, text: str) -> TemplateHead:
    try:
        return TemplateHead.read(tomllib.loads(text), f"the head of the template {name}")
    except tomllib.TOMLDecodeError as error:
        raise BadParameter(
            f'The head of the template {name} is no TOML: before the first message stand settings such as mark = "<".'
        ) from error


def template_style(name: str, text: str) -> PromptTemplate:
    """Return the style of a template."""
    head, _ = parsed(name, text)
    return PromptTemplate(name, text, head.mark, head.lead, head.close, head.reason, head.memory, head.earlier_episodes)


def template_of_file(text: str) -> PromptTemplate:
    """Return the style that `template:FILE` names."""
    file = text.removeprefix(PREFIX).strip()
    return template_style(file, read_template(file))


def shipped_template(name: str) -> PromptTemplate:
    """Return a style of the package that is a template."""
    file = files("stratagem.prompting.templates") / "shipped" / f"{name}{SUFFIX}"
    return template_style(name, file.read_text(encoding="utf-8"))
