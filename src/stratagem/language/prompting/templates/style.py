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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple, cast

from pydantic import Field

from stratagem.base.errors import BadParameter
from stratagem.base.settings import Settings
from stratagem.games.base import View
from stratagem.language.prompting.base import ChatMessage, Role, Style
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.language.prompting.templates.fact import PromptFact, TemplateScene, in_words
from stratagem.language.prompting.templates.facts import facts_by_name
from stratagem.language.prompting.templates.language import (
    FactCondition,
    FactField,
    FactLoop,
    FixedText,
    Node,
    names_in,
    parse_template,
)
from stratagem.language.prompting.templates.lookup import PREFIX, SUFFIX, read_template

MOST_CHARACTERS = 200_000
"""Largest number of characters of a prompt."""
MOST_STEPS = 100_000
"""Largest number of parts of a template that are written for a prompt, those of loops counted anew."""
_NUMBER = PromptFact("number", "Number of the item, from 1.", lambda number: number)
Names = Mapping[str, PromptFact]


def check_names(nodes: Iterable[Node], names: Names, template: str, game: str) -> None:
    """Refuse a name that the game does not tell, and a list where a value is due or a value where a list is."""
    for node in nodes:
        if isinstance(node, FixedText):
            continue
        if isinstance(node, FactCondition) and node.exists:
            told = (node.name in names) is not node.negated
            check_names(node.then if told else node.otherwise, names, template, game)
            continue
        fact, where = names.get(node.name), f"line {node.line} of the template {template}"
        if fact is None:
            raise BadParameter(
                f"There is no fact {node.name!r} for {where} in {game}: the facts are {', '.join(sorted(names))}."
            )
        if isinstance(node, FactLoop):
            if not fact.items:
                raise BadParameter(f"The fact {node.name} in {where} is no list: write it as {{{node.name}}}.")
            inner = {**names, _NUMBER.name: _NUMBER, **{item.name: item for item in fact.items}}
            check_names((*node.body, *node.between), inner, template, game)
        elif isinstance(node, FactCondition):
            check_names((*node.then, *node.otherwise), names, template, game)
        elif fact.items:
            fields = " ".join(f"{{{item.name}}}" for item in fact.items)
            raise BadParameter(
                f"The fact {node.name} in {where} is a list: write {{each {node.name}}}{fields}{{end}}, with text "
                "between the fields."
            )


@dataclass
class Filling:
    """Writing of the messages of one prompt."""

    template: str
    scene: object
    steps: int = 0
    length: int = 0
    read: dict[str, Any] = field(default_factory=dict)
    """Values of the scene that were read; a loop may name one again and again."""

    def write(self, nodes: Iterable[Node], names: Names) -> str:
        """Return the text of a message whose names were checked."""
        return "".join(self._write_nodes(nodes, {name: (fact, self.scene) for name, fact in names.items()}))

    def _write_nodes(self, nodes: Iterable[Node], scope: Mapping[str, tuple[PromptFact, Any]]) -> Iterator[str]:
        for node in nodes:
            self._step()
            if isinstance(node, FixedText):
                yield self._count_text(node.text)
            elif isinstance(node, FactField):
                yield self._count_text(in_words(self._value(node.name, scope)))
            elif isinstance(node, FactCondition):
                yield from self._write_nodes(node.then if self._holds(node, scope) else node.otherwise, scope)
            else:
                yield from self._write_loop(node, scope)

    def _write_loop(self, node: FactLoop, scope: Mapping[str, tuple[PromptFact, Any]]) -> Iterator[str]:
        fields = scope[node.name][0].items
        for number, item in enumerate(self._value(node.name, scope)):
            self._step()
            inner = {**scope, _NUMBER.name: (_NUMBER, number + 1), **{one.name: (one, item) for one in fields}}
            if number:
                yield from self._write_nodes(node.between, inner)
            yield from self._write_nodes(node.body, inner)

    def _holds(self, node: FactCondition, scope: Mapping[str, tuple[PromptFact, Any]]) -> bool:
        if node.exists:
            holds = node.name in scope
        else:
            value = self._value(node.name, scope)
            holds = bool(value) if node.word is None else in_words(value) == node.word
        return holds is not node.negated

    def _value(self, name: str, scope: Mapping[str, tuple[PromptFact, Any]]) -> Any:
        fact, source = scope[name]
        if source is not self.scene:
            return _read(fact, source)
        if name not in self.read:
            self.read[name] = _read(fact, source)
        return self.read[name]

    def _count_text(self, text: str) -> str:
        self.length += len(text)
        if self.length > MOST_CHARACTERS:
            raise BadParameter(
                f"The template {self.template} writes a prompt of more than {MOST_CHARACTERS:,} characters."
            )
        return text

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise BadParameter(f"The template {self.template} repeats its parts more than {MOST_STEPS:,} times.")


def _read(fact: PromptFact, source: object) -> Any:
    value = fact.read(source)
    return list(value or ()) if fact.items else value


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
        return frozenset(
            name for message in split_template(self.name, self.text)[1] for name in names_in(message.nodes)
        )

    def messages(self, view: View[Any], past: Past = NOTHING) -> list[ChatMessage]:
        scene = TemplateScene(view, past if self.earlier_episodes else NOTHING)
        facts, filling = facts_by_name(view), Filling(self.name, scene)
        found = []
        for message in split_template(self.name, self.text)[1]:
            check_names(message.nodes, facts, self.name, _name_of(view))
            if text := filling.write(message.nodes, facts).strip("\n"):
                found.append(ChatMessage(message.role, text))
        if not found:
            raise BadParameter(f"The template {self.name} writes no text in {_name_of(view)}.")
        return found


def _name_of(view: View[Any]) -> str:
    """Return the name of a game for messages; a disguised one is not told."""
    return view.game.spec.name if "game" in facts_by_name(view) else "a game under a disguise"


@lru_cache(maxsize=64)
def split_template(name: str, text: str) -> tuple[TemplateHead, tuple[TemplateMessage, ...]]:
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
    head, _ = split_template(name, text)
    return PromptTemplate(name, text, head.mark, head.lead, head.close, head.reason, head.memory, head.earlier_episodes)


def template_of_file(text: str) -> PromptTemplate:
    """Return the style that `template:FILE` names."""
    file = text.removeprefix(PREFIX).strip()
    return template_style(file, read_template(file))


def shipped_template(name: str) -> PromptTemplate:
    """Return a style of the package that is a template."""
    file = files("stratagem.language.prompting.templates") / "shipped" / f"{name}{SUFFIX}"
    return template_style(name, file.read_text(encoding="utf-8"))
