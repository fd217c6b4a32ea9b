"""A typed table from names to factories, open to other packages through entry points.

A name may carry arguments: `ipd(rounds=20)`, `noise(TitForTat, p=0.1)`, or a raw tail after a colon for the families
that say so: `mcts:100`, `spiel:nim(pile_sizes=3;4)`.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import Any, Generic, NamedTuple, TypeVar

from stratagem.base.errors import BadParameter, BrokenEntry, StratagemError, UnknownName
from stratagem.base.file_modules import BrokenFile, factory_of
from stratagem.base.named_files import find_file, is_file_name, split_name

T = TypeVar("T")
_DEEPEST, _LONGEST = 32, 2000
"""Limits of a name: depth of brackets, and number of characters."""


class NamedCall(NamedTuple):
    """A name with the arguments that were written after it."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}


def parse_call(text: str) -> NamedCall:
    """Read `name(a, b=1, c=[X, Y])`; a value is a Python literal or, failing that, the bare text."""
    text = text.strip()
    _check_text(text)
    name, bracket, rest = text.partition("(")
    if not bracket or is_file_name(text):
        return NamedCall(text)
    if not rest.endswith(")"):
        raise BadParameter(f"{text!r} opens a bracket and does not close it: write it as name(option=value).")
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for piece in split_arguments(rest[:-1]):
        option, equals, value = piece.partition("=")
        option = option.strip()
        if option in kwargs and equals:
            raise BadParameter(f"{text!r} has the option {option} twice: give it once.")
        if equals and option.isidentifier():
            kwargs[option] = _literal(value)
        else:
            args.append(_literal(piece))
    return NamedCall(name.strip(), tuple(args), kwargs)


def _check_text(text: str) -> None:
    """Refuse an invalid name: a character that no path has, or brackets in brackets without end."""
    if "\0" in text:
        raise BadParameter(f"{text[:100]!r} holds the character NUL, which no name has.")
    depth = deepest = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if deepest > _DEEPEST or len(text) > _LONGEST:
        raise BadParameter(f"The name {text[:60]!r}… is nested too deep, or longer than {_LONGEST} characters.")


def split_arguments(text: str) -> list[str]:
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
    """Read a Python value; a list of bare words is a list of texts, and anything else is a text."""
    text = text.strip()
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # of a text that is no literal
            return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        listed = text[:1] + text[-1:] in ("[]", "()")
        return [_literal(piece) for piece in split_arguments(text[1:-1])] if listed else text


class Registry(Generic[T]):
    """Names and their factories: ours in a plain dict, other packages' from an entry-point group, and those of files.

    Another package is loaded when its name is asked for and not before, so a broken one spoils its own names only.
    """

    def __init__(
        self,
        kind: str,
        table: Mapping[str, Callable[..., T]],
        group: str,
        base: type[Any] | None = None,
        *,
        forms: Sequence[str] = (),
        instead: str = "",
    ) -> None:
        self.kind = kind
        self.group = group
        self.base = base
        """Class of what the factories of files make."""
        self.forms = forms
        """Other forms of a name, for messages: `spiel:GAME`."""
        self.instead = instead
        """Sentence that names the replacement of the entry-point group, if this is deprecated."""
        self.table = dict(table)
        """Names of this package."""
        self._loaded: dict[str, Callable[..., T]] = {}

    def names(self) -> list[str]:
        """Return every name, ours first and then those of other packages."""
        return [*self.table, *self.entries]

    def __contains__(self, name: str) -> bool:
        return name in self.table or name in self.entries or split_name(name) is not None

    def factory(self, name: str) -> Callable[..., T]:
        """Return the factory called `name`; an unknown name is answered with the nearest known ones."""
        if name in self.table:
            return self.table[name]
        if named := split_name(name):
            return factory_of(self.kind, *named, self.base)
        if name not in self.entries:
            raise UnknownName(self.kind, name, [*self.names(), *self.forms], file=True)
        if name not in self._loaded:
            self._loaded[name] = self._load(self.entries[name])
        return self._loaded[name]

    def with_factories(self, factories: Mapping[str, Callable[..., T]], entry: EntryPoint) -> Registry[T]:
        """Return the registry with further names, which the package of an entry point brings; known names stay."""
        made = Registry(self.kind, self.table, self.group, self.base, forms=self.forms, instead=self.instead)
        more = {name: factory for name, factory in factories.items() if name not in self.names()}
        made.entries = self.entries | dict.fromkeys(more, entry)
        made._loaded = self._loaded | more
        return made

    def name_of(self, made: object) -> str | None:
        """Return our name of the factory that is the class of `made`; None where there is none."""
        return next((name for name, factory in self.table.items() if factory is type(made)), None)

    def make(self, call: NamedCall) -> T:
        """Build what `call` names, and turn a wrong argument into one sentence."""
        factory, named = self.factory(call.name), split_name(call.name)
        try:
            made = factory(*call.args, **call.kwargs)
            return self._check_made(call.name, made) if named else made
        except StratagemError:
            raise
        except (TypeError, ValueError) as error:
            raise BadParameter(
                f"The {self.kind} {call.name} cannot be made so: {_fault(factory, call, error)}"
            ) from error
        except Exception as error:
            if call.name in self.table:
                raise  # a defect of ours keeps its traceback
            if named:
                raise BrokenFile(call.name, find_file(named[0]), error) from error
            raise BrokenEntry(self.kind, self.entries[call.name], error, call.name) from error

    def _check_made(self, name: str, made: T) -> T:
        """Refuse what a function of a file makes, if it is of another kind."""
        if self.base is not None and not isinstance(made, self.base):
            raise BadParameter(f"{name} makes {type(made).__name__}, which is no {self.kind}.")
        return made

    @cached_property
    def entries(self) -> dict[str, EntryPoint]:
        """Entry points of other packages by name; our names stay ours, and of two packages the first keeps a name."""
        result: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if entry.name not in self.table:
                result.setdefault(entry.name, entry)
        return result

    def _load(self, entry: EntryPoint) -> Callable[..., T]:
        if self.instead:
            text = f"The entry point {entry.name} stands in {self.group}, a group that is deprecated: {self.instead}."
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        try:
            factory = self._open_entry(entry)
            if not callable(factory):
                raise TypeError("it is nothing that makes one")
        except Exception as error:
            raise BrokenEntry(self.kind, entry, error) from error
        return factory

    def _open_entry(self, entry: EntryPoint) -> Callable[..., T]:
        """Return the factory that an entry point leads to."""
        return entry.load()  # type: ignore[no-any-return]


def _fault(factory: Callable[..., Any], call: NamedCall, error: Exception) -> str:
    """Describe why a factory refuses its options, and name its options."""
    parameters = {
        name: p for name, p in signature(factory).parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    unknown = [name for name in call.kwargs if name not in parameters]
    names = ", ".join(parameters) or "none"
    if unknown:
        return f"it has no option {', '.join(unknown)}; its options are {names}."
    if call.args and all(p.kind is p.KEYWORD_ONLY for p in parameters.values()):
        return f"give its options by name; they are {names}."
    needed = [name for name, p in parameters.items() if p.default is p.empty and name not in call.kwargs]
    if missing := needed[len(call.args) :]:
        return f"it needs {', '.join(missing)}, as in {call.name}({', '.join(f'{name}=...' for name in missing)})."
    return f"{error}; its options are {names}."
