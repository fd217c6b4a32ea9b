"""Parameters of a function with their explanations: the section `Args:` of its docstring, and its signature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_type_hints

_ENTRY = re.compile(r"^ {4}(?P<name>\w+): (?P<text>.+(?:\n {8}.+)*)", re.MULTILINE)
"""An entry of the section: a name and its text, of which further lines are indented."""


class ExplainedParameter(NamedTuple):
    """Parameter of a function."""

    name: str
    hint: Any
    """Its type; `str` where the type is known to the type checker alone."""
    default: Any
    """Its default; `inspect.Parameter.empty` without one."""
    explanation: str
    positional: bool
    """True if it may be given without its name."""

    @property
    def required(self) -> bool:
        """True if it has no default."""
        return self.default is inspect.Parameter.empty


def explained_parameters(function: Callable[..., Any]) -> Iterator[ExplainedParameter]:
    """Yield the parameters of a function in their order."""
    told = explanations(function)
    scope = vars(inspect.getmodule(inspect.unwrap(function)))
    for name, given in inspect.signature(function).parameters.items():
        hint = _type_of(given.annotation, scope)
        yield ExplainedParameter(name, hint, given.default, told.get(name, ""), given.kind != given.KEYWORD_ONLY)


def explanations(function: Callable[..., Any]) -> dict[str, str]:
    """Return the entries of the section `Args:`, by parameter."""
    _, _, section = (inspect.getdoc(function) or "").partition("\nArgs:\n")
    return {found["name"]: " ".join(found["text"].split()) for found in _ENTRY.finditer(section)}


def purpose(function: Callable[..., Any]) -> str:
    """Return the docstring of a function without the section `Args:`."""
    return (inspect.getdoc(function) or "").partition("\nArgs:\n")[0].strip()


def _type_of(annotation: Any, scope: dict[str, Any]) -> Any:
    holder = type("Holder", (), {"__annotations__": {"it": annotation}})
    try:
        return get_type_hints(holder, scope)["it"]
    except (NameError, TypeError):  # the type is a text, or imported for the type checker alone
        return list[str] if "Sequence[" in annotation else str
