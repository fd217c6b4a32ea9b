"""What settings are: frozen, strict, and told in one sentence where they are wrong.

A class of settings stands beside the thing that it sets; the note under a field is its documentation.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from stratagem.errors import BadParameter

_TABLES = (dict, Mapping)
_LONGEST = 300
"""Characters of a value in a sentence."""


class Settings(BaseModel):
    """Named values, each with a type and a default that was vetted; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    replaced: ClassVar[Mapping[str, str]] = {}
    """Replaced keys: old key to its new key, or to what is written in its place, as `loss = { ... }`; those of the
    classes above count too."""

    @classmethod
    def replaced_keys(cls) -> dict[str, str]:
        """Replaced keys of this class and of the classes above it."""
        return {old: new for base in reversed(cls.__mro__) for old, new in vars(base).get("replaced", {}).items()}

    @classmethod
    def read(cls, data: Mapping[str, Any], where: str = "") -> Self:
        """Settings from plain data, such as a table of a TOML file."""
        try:
            return cls.model_validate(dict(data))
        except ValidationError as error:
            raise BadParameter(_sentence(cls, error, where)) from error


def instead(old: str, new: str, table: str = "") -> str:
    """The sentence about a replaced key of a table: the old key and the new one, each with its place."""
    if new.isidentifier():
        return f"There is no setting {_joined(table, old)} any more: write {_joined(table, new)}."
    return f"There is no setting {_joined(table, old)} any more: write `{new}`{f' in {table}' if table else ''}."


def _joined(table: str, key: str) -> str:
    return _short(f"{table}.{key}" if table else key)


def over_default(default: Settings, given: Any) -> Any:
    """A table laid over settings, so that what it does not name is as it was vetted there."""
    if not isinstance(given, Mapping):
        return given
    own = {name: getattr(default, name) for name in type(default).model_fields}
    inside = {name: value for name, value in given.items() if isinstance(own.get(name), Settings)}
    return {**own, **given, **{name: over_default(own[name], value) for name, value in inside.items()}}


class FiniteSettings(Settings):
    """Settings with which something is computed: none of their numbers is infinite."""

    model_config = ConfigDict(allow_inf_nan=False)


def _sentence(cls: type[Settings], error: ValidationError, where: str) -> str:
    """The first mistake, with where it is and what there is instead."""
    if (sentence := _replaced(cls, error, where)) is not None:
        return sentence
    first, reason = _first(cls, error)
    steps = _steps(cls, first["loc"])
    place = _short(".".join([where, *(str(step) for step, _ in steps)]).strip("."))
    if first["type"] == "extra_forbidden":
        inside = _holder(cls, steps)
        return f"There is no setting {place}: there are {', '.join(inside.model_fields)}."
    if first["type"] == "missing":
        return f"The setting {place} must be given."
    if not place:  # settings that cannot stand together
        return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
    end = "" if reason.endswith("?") else "."
    return f"The setting {place} cannot be {_shown(first['input'])}: {reason.rstrip('.')}{end}"


def _replaced(cls: type[Settings], error: ValidationError, where: str) -> str | None:
    """The sentence about the first replaced key, which comes before every other mistake."""
    for one in error.errors():
        steps = _steps(cls, one["loc"])
        replaced = _holder(cls, steps).replaced_keys()
        if one["type"] == "extra_forbidden" and (old := str(steps[-1][0])) in replaced:
            table = ".".join([where, *(str(step) for step, _ in steps[:-1])]).strip(".")
            return instead(old, replaced[old], table)
    return None


def _holder(cls: type[Settings], steps: Sequence[tuple[str | int, type[Settings] | None]]) -> type[Settings]:
    """The settings whose key the last step is."""
    return next((known for _, known in reversed(steps[:-1]) if known is not None), cls)


def _shown(value: object) -> str:
    """A value as it was written, as far as a sentence has room for it."""
    try:
        return _short(repr(value))
    except (ValueError, RecursionError):  # a whole number of thousands of digits, or tables in tables without end
        return f"what it is, a {type(value).__name__} without end"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _first(cls: type[Settings], error: ValidationError) -> tuple[ErrorDetails, str]:
    """The mistake and its reason: where one of several types would do, the one that was meant, or what all ask for."""
    every = error.errors()
    place = [step for step, _ in _steps(cls, every[0]["loc"])]
    places = [[step for step, _ in _steps(cls, one["loc"])] for one in every]
    same = [one for one, own in zip(every, places, strict=True) if own == place]
    inside = [one for one, own in zip(every, places, strict=True) if own[: len(place)] == place != own]
    if inside and place:
        return inside[0], _reason(inside[0])
    first, *others = map(_reason, same)
    return same[0], "; or ".join([first, *(reason.removeprefix("Input should be ") for reason in others)])


def _reason(one: ErrorDetails) -> str:
    return str(one["ctx"]["error"]) if "error" in one.get("ctx", {}) else one["msg"]


def _steps(cls: type[Settings], loc: Sequence[str | int]) -> list[tuple[str | int, type[Settings] | None]]:
    """The steps to a mistake, each with the settings that are there; what tells kinds or types apart is no step."""
    here: Any = cls
    steps: list[tuple[str | int, type[Settings] | None]] = []
    for step in loc:
        options = _options(here)
        kind = next((option for option in options if _is_kind(option, step)), None) if len(options) > 1 else None
        if kind is not None and steps:
            here, steps[-1] = kind, (steps[-1][0], kind)
            continue
        if len(options) > 1 and isinstance(step, str) and not any(map(_has_names, options)):
            continue
        here = _inside(here, step)
        steps.append((step, next((option for option in _options(here) if _is_settings(option)), None)))
    return steps


def _options(annotation: Any) -> list[Any]:
    """What may stand there."""
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [one for option in get_args(annotation) for one in _options(option)]
    return [annotation]


def _inside(annotation: Any, step: str | int) -> Any:
    """What is at a step: a field of settings, or what a table or a list holds."""
    for option in _options(annotation):
        if _is_settings(option):
            return option.model_fields[step].annotation if step in option.model_fields else None
        if get_origin(option) in _TABLES:
            return get_args(option)[1]
        if get_origin(option) in (tuple, list):
            return get_args(option)[0]
    return None


def _has_names(option: Any) -> bool:
    """Whether something in it is called by a word."""
    return _is_settings(option) or get_origin(option) in _TABLES


def _is_settings(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, Settings)


def _is_kind(option: Any, step: str | int) -> bool:
    """Whether these are the settings that a word stands for, as `learner = "naive"`."""
    if not _is_settings(option):
        return False
    return any(get_args(field.annotation) == (step,) == (field.default,) for field in option.model_fields.values())
