"""A typed table from names to factories, open to other packages through entry points.

A name may carry arguments: `ipd(rounds=20)`, `noise(TitForTat, p=0.1)`, or a raw tail after a colon for the families
that say so: `mcts:100`, `spiel:nim(pile_sizes=3;4)`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from inspect import signature
from typing import Any, Generic, NamedTuple, TypeVar

from stratagem.errors import BadParameter, StratagemError, UnknownName

T = TypeVar("T")


class Call(NamedTuple):
    """A name with the arguments that were written after it."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}


def parse_call(text: str) -> Call:
    """Read `name(a, b=1, c=[X, Y])`; a value is a Python literal or, failing that, the bare text."""
    text = text.strip()
    name, bracket, rest = text.partition("(")
    if not bracket:
        return Call(text)
    if not rest.endswith(")"):
        raise BadParameter(f"{text!r} opens a bracket and does not close it: write it as name(option=value).")
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for piece in _split_arguments(rest[:-1]):
        option, equals, value = piece.partition("=")
        if equals and option.strip().isidentifier():
            kwargs[option.strip()] = _literal(value)
        else:
            args.append(_literal(piece))
    return Call(name.strip(), tuple(args), kwargs)


def _split_arguments(text: str) -> list[str]:
    """Cut at the commas that stand in no bracket and in no quotation."""
    pieces, depth, start, quote = [], 0, 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote and text[position - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character == "," and depth == 0:
            pieces.append(text[start:position])
            start = position + 1
        else:
            depth += (character in "([{") - (character in ")]}")
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _literal(text: str) -> Any:
    """A Python value; a list of bare words is a list of texts, and whatever else is no value is a text."""
    text = text.strip()
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        listed = text[:1] + text[-1:] in ("[]", "()")
        return [_literal(piece) for piece in _split_arguments(text[1:-1])] if listed else text


class Registry(Generic[T]):
    """Names and their factories: ours in a plain dict, other packages' from an entry-point group, read on demand."""

    def __init__(self, kind: str, table: Mapping[str, Callable[..., T]], group: str) -> None:
        self.kind = kind
        self.group = group
        self._table = dict(table)
        self._discovered = False

    def names(self) -> list[str]:
        """Every name, ours first and then those of other packages."""
        self._discover()
        return list(self._table)

    def __contains__(self, name: str) -> bool:
        if name not in self._table:
            self._discover()
        return name in self._table

    def factory(self, name: str) -> Callable[..., T]:
        """The factory called `name`; an unknown name is answered with the nearest known ones."""
        if name not in self:
            raise UnknownName(self.kind, name, self._table)
        return self._table[name]

    def make(self, call: Call) -> T:
        """Build what `call` names, and turn a wrong argument into one sentence."""
        factory = self.factory(call.name)
        try:
            return factory(*call.args, **call.kwargs)
        except StratagemError:
            raise
        except (TypeError, ValueError) as error:
            raise BadParameter(
                f"The {self.kind} {call.name} cannot be made so: {_fault(factory, call, error)}"
            ) from error

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
        for entry in entry_points(group=self.group):
            self._table.setdefault(entry.name, entry.load())


def _fault(factory: Callable[..., Any], call: Call, error: Exception) -> str:
    """Why a factory refuses its options, and which it has."""
    parameters = signature(factory).parameters
    unknown = [name for name in call.kwargs if name not in parameters]
    names = ", ".join(parameters) or "none"
    if unknown:
        return f"it has no option {', '.join(unknown)}; its options are {names}."
    if call.args and all(p.kind is p.KEYWORD_ONLY for p in parameters.values()):
        return f"give its options by name; they are {names}."
    needed = [name for name, p in parameters.items() if p.default is p.empty and name not in call.kwargs]
    if len(needed) > len(call.args):
        return f"it needs {', '.join(needed[len(call.args) :])}, as in {call.name}({needed[-1]}=...)."
    return f"{error}; its options are {names}."
