"""Language of prompt templates: text with facts by name, conditions, and loops over lists that the game tells.

    {card}                                  a fact
    {if opens}…{else}…{end}                 a condition; also {if not NAME}, {if NAME is WORD} and {if has NAME}
    {each moves}{item}{between}, {end}      a loop; {between} begins the text between two items
    {{ and }}                               braces

There are no expressions, attributes, calls, assignments and includes, so a template of a stranger can tell facts of the
game and nothing else. A line that holds only parts of conditions and loops leaves no empty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from stratagem.base.errors import BadParameter

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_BLOCK = re.compile(r"\s*(?:\{(?:if|else|each|between|end)\b[^{}]*\}\s*)+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONDITION = re.compile(rf"if\s+(not\s+)?(has\s+)?({_NAME.pattern})(?:\s+is\s+(not\s+)?(.+))?")
_EACH = re.compile(rf"each\s+({_NAME.pattern})")
_DEEPEST = 8
"""Number of conditions and loops within one another."""


@dataclass(frozen=True)
class FixedText:
    """Text of a template that stands as it is."""

    text: str


@dataclass(frozen=True)
class FactField:
    """Place of a fact."""

    name: str
    line: int


@dataclass(frozen=True)
class FactCondition:
    """Two texts, of which a fact chooses one."""

    name: str
    line: int
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]
    negated: bool = False
    exists: bool = False
    """True if it asks whether the game tells the fact at all, and not for its value."""
    word: str | None = None
    """Text that the fact is compared with; without one it is asked whether it is true, not empty or not 0."""


@dataclass(frozen=True)
class FactLoop:
    """Text for each item of a list."""

    name: str
    line: int
    body: tuple[Node, ...]
    between: tuple[Node, ...]


Node = FixedText | FactField | FactCondition | FactLoop


class _Piece(NamedTuple):
    """Fixed text, or what stands in braces."""

    text: str
    line: int
    in_braces: bool


def parse_template(text: str, name: str, first_line: int = 1) -> tuple[Node, ...]:
    """Read the text of a message of the template called `name`; a mistake is one sentence with its line."""
    reader = _PieceReader(list(_pieces(text, name, first_line)), name)
    nodes, stop = reader.read(0)
    if stop:
        raise reader.mistake(stop, "ends nothing: no {if …} or {each …} is open")
    return nodes


def _pieces(text: str, name: str, first_line: int) -> Iterator[_Piece]:
    """Yield the pieces of a text; what stands in braces is stripped."""
    for number, line in enumerate(text.splitlines(keepends=True), first_line):
        if _BLOCK.fullmatch(line):
            yield from (_Piece(found[1].strip(), number, True) for found in _PIECE.finditer(line))
            continue
        end = 0
        for found in _PIECE.finditer(line):
            yield _Piece(line[end : found.start()], number, False)
            end = found.end()
            if found[0] in "{}":
                raise BadParameter(
                    f"The template {name} has a brace in line {number} that is not closed or not opened: write {{{{ or "
                    "}} for a brace that is text."
                )
            yield _Piece(found[0][0], number, False) if found[1] is None else _Piece(found[1].strip(), number, True)
        yield _Piece(line[end:], number, False)


class _PieceReader:
    """Reading of the pieces of a text, one after another."""

    def __init__(self, pieces: list[_Piece], name: str) -> None:
        self.pieces = pieces
        self.name = name
        self.at = 0

    def mistake(self, piece: _Piece, what: str) -> BadParameter:
        """Return a mistake as a sentence."""
        return BadParameter(f"In line {piece.line} of the template {self.name} {{{piece.text}}} {what}.")

    def read(self, depth: int) -> tuple[tuple[Node, ...], _Piece | None]:
        """Read up to the next `else`, `between` or `end`, which is returned; None at the end of the text."""
        nodes: list[Node] = []
        while self.at < len(self.pieces):
            piece = self.pieces[self.at]
            self.at += 1
            if not piece.in_braces:
                nodes += [FixedText(piece.text)] if piece.text else []
            elif piece.text in ("else", "between", "end"):
                return tuple(nodes), piece
            else:
                nodes.append(self._node(piece, depth))
        return tuple(nodes), None

    def _node(self, piece: _Piece, depth: int) -> Node:
        if _NAME.fullmatch(piece.text) and piece.text not in ("if", "each"):
            return FactField(piece.text, piece.line)
        if depth >= _DEEPEST:
            raise self.mistake(piece, f"stands in more than {_DEEPEST} conditions and loops")
        if found := _CONDITION.fullmatch(piece.text):
            return self._condition(piece, found, depth)
        if found := _EACH.fullmatch(piece.text):
            body, between = self._two_parts(piece, "between", depth)
            return FactLoop(found[1], piece.line, body, between)
        raise self.mistake(
            piece,
            "is nothing that a template can say: it says {NAME}, {if NAME}, {if not NAME}, {if NAME is WORD}, "
            "{if has NAME}, {else}, {each NAME}, {between} and {end}",
        )

    def _condition(self, piece: _Piece, found: re.Match[str], depth: int) -> FactCondition:
        negated, exists, name, unequal, word = found.groups()
        if word is not None and (negated or exists):
            raise self.mistake(piece, "compares and asks at once: write {if NAME is not WORD}")
        then, otherwise = self._two_parts(piece, "else", depth)
        return FactCondition(
            name,
            piece.line,
            then,
            otherwise,
            negated=bool(negated or unequal),
            exists=bool(exists),
            word=None if word is None else word.strip().strip("\"'"),
        )

    def _two_parts(self, piece: _Piece, middle: str, depth: int) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """Read up to the `end` of a piece, in the parts before and after the word in the middle."""
        first, stop = self.read(depth + 1)
        second: tuple[Node, ...] = ()
        if stop is not None and stop.text == middle:
            second, stop = self.read(depth + 1)
        if stop is None:
            raise self.mistake(piece, "is not closed: write {end}")
        if stop.text != "end":
            raise self.mistake(stop, f"does not belong to {{{piece.text}}} of line {piece.line}")
        return first, second


def names_in(nodes: tuple[Node, ...]) -> Iterator[str]:
    """Yield every name that a template says, those within loops too."""
    for node in nodes:
        if isinstance(node, FactField | FactCondition | FactLoop):
            yield node.name
        if isinstance(node, FactCondition):
            yield from names_in((*node.then, *node.otherwise))
        elif isinstance(node, FactLoop):
            yield from names_in((*node.body, *node.between))
