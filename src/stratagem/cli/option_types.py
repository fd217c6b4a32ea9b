"""Options from parameters: the type that the parser reads, the name, the help, and what a shell completes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from stratagem.api.parameters import ExplainedParameter
from stratagem.base.errors import BadParameter
from stratagem.cli import completion
from stratagem.cli.commands import PLURAL
from stratagem.cli.parameters import as_options

COMPLETED: Mapping[str, Callable[..., list[str]]] = {
    "suite": completion.suites,
    "metrics": completion.metrics,
    "engine": completion.engines,
    "style": completion.styles,
    "styles": completion.styles,
    "model": completion.models,
    "recipes": completion.recipes,
    "track": completion.trackers,
}
"""Names that a shell completes, by parameter; those of games and of players follow from the type."""
SHARING = ("engine", "workers", "ray", "devices")
"""Parameters of the machines and processes that do the work; the help has them in a section of their own."""
_SWITCH = re.compile(r"^(?:True|False) (?:to|for) (?P<first>.)")


def declared_parameter(
    parameter: ExplainedParameter, shown: str = "", *, needed: bool = False, callback: Callable[..., Any] | None = None
) -> tuple[Any, Any]:
    """Return the annotation of a parameter for the parser, and its default.

    `shown` is its option or its name in the help, where it is not that of the parameter. What is needed is refused by
    the parser where it is missing. The callback gets the value.
    """
    kind, many = option_type(parameter.hint)
    help_ = {"help": help_of(parameter), "autocompletion": completion_of(parameter)}
    default = ... if needed else _default(parameter, many=many)
    kind = list[kind] if many else kind  # type: ignore[valid-type]
    kind = kind if default is not None else kind | None
    words: dict[str, Any] = {"show_default": _shown_default(parameter, shown), "callback": callback, **help_}
    if _is_argument(parameter, shown):
        return Annotated[kind, typer.Argument(metavar=shown or None, **words)], default
    option = _option(parameter, shown)
    words["help"] += " Repeatable." if many and option not in PLURAL else ""
    words["rich_help_panel"] = "Engine and workers" if parameter.name in SHARING else None
    return Annotated[kind, typer.Option(option, **words)], default


def _is_argument(parameter: ExplainedParameter, shown: str) -> bool:
    return parameter.positional and not shown.startswith("-")


def _option(parameter: ExplainedParameter, shown: str) -> str:
    """Return the option of a parameter, with the one that negates it."""
    plain = shown or f"--{parameter.name.replace('_', '-')}"
    if parameter.default is not True:
        return plain
    return f" /{plain}" if plain.startswith("--no-") else f"{plain}/--no-{plain.removeprefix('--')}"


def option_type(hint: Any) -> tuple[Any, bool]:
    """Return the type of a value on the command line, and whether an option takes several."""
    parts = list(_parts(hint))
    for part in parts:
        if get_origin(part) in (list, Sequence):
            return _value_type(list(_parts(get_args(part)[0]))), True
    return _value_type(parts), any(get_origin(part) is Mapping for part in parts)


def _value_type(parts: Sequence[Any]) -> Any:
    """Return the type of one value: a text wherever a text will do."""
    named = [part for part in parts if get_origin(part) is Literal]
    return next((kind for kind in (bool, Path, str, int, float) if kind in parts), named[0] if named else str)


def _parts(hint: Any) -> Iterator[Any]:
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _parts(part)
    else:
        yield hint


def _default(parameter: ExplainedParameter, *, many: bool) -> Any:
    """Return the default that the parser shows; the function has its own where nothing is given."""
    return None if parameter.required or many or parameter.default in ((), "") else parameter.default


def _shown_default(parameter: ExplainedParameter, shown: str) -> bool | str:
    """Return the default in words where the parser cannot show it; of an option that negates there is none to show."""
    if shown.startswith("--no-"):
        return False
    several = isinstance(parameter.default, tuple) and parameter.default
    return ", ".join(map(str, parameter.default)) if several else True


def help_of(parameter: ExplainedParameter) -> str:
    """Return the explanation with options for parameters; that of a switch says what it does."""
    return as_options(_SWITCH.sub(lambda found: found["first"].upper(), parameter.explanation))


def completion_of(parameter: ExplainedParameter) -> Callable[..., list[str]] | None:
    """Return the function that completes a value: by the parameter, or by the games and players among its types."""
    if parameter.name in COMPLETED:
        return COMPLETED[parameter.name]
    names = {getattr(part, "__name__", "") for part in _all_parts(parameter.hint)}
    return completion.players if "Player" in names else completion.games if "Game" in names else None


def _all_parts(hint: Any) -> Iterator[Any]:
    """Yield the types in a hint, those of games and players without their parameters."""
    for part in _parts(hint):
        if get_origin(part) in (list, tuple, Sequence):
            yield from _all_parts(get_args(part)[0])
        else:
            yield get_origin(part) or part


def value_of(parameter: ExplainedParameter, given: Any) -> Any:
    """Return a value as the function takes it: settings to change as a mapping."""
    if any(get_origin(part) is Mapping for part in _parts(parameter.hint)):
        return dict(map(_change, given))
    return given


def _change(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        meant = f"{key}=VALUE" if key else "sepo.exploitability_weight=3"
        raise BadParameter(f"--set {text} changes nothing: write it as --set {meant}.")
    return key.strip(), value.strip()
