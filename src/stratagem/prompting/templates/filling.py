"""Filling of a template: its names are checked against the facts of the game, and then their values are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stratagem.errors import BadParameter
from stratagem.prompting.templates.fact import PromptFact, in_words
from stratagem.prompting.templates.language import FactCondition, FactField, FactLoop, FixedText, Node

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
        return "".join(self._written(nodes, {name: (fact, self.scene) for name, fact in names.items()}))

    def _written(self, nodes: Iterable[Node], scope: Mapping[str, tuple[PromptFact, Any]]) -> Iterator[str]:
        for node in nodes:
            self._step()
            if isinstance(node, FixedText):
                yield self._counted(node.text)
            elif isinstance(node, FactField):
                yield self._counted(in_words(self._value(node.name, scope)))
            elif isinstance(node, FactCondition):
                yield from self._written(node.then if self._holds(node, scope) else node.otherwise, scope)
            else:
                yield from self._looped(node, scope)

    def _looped(self, node: FactLoop, scope: Mapping[str, tuple[PromptFact, Any]]) -> Iterator[str]:
        fields = scope[node.name][0].items
        for number, item in enumerate(self._value(node.name, scope)):
            self._step()
            inner = {**scope, _NUMBER.name: (_NUMBER, number + 1), **{one.name: (one, item) for one in fields}}
            if number:
                yield from self._written(node.between, inner)
            yield from self._written(node.body, inner)

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

    def _counted(self, text: str) -> str:
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
