"""Base classes of settings: frozen and strict; an error is one sentence.

A class of settings stands beside the class that it configures; the string under a field is its documentation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, time
from itertools import islice
from typing import Any, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from stratagem.base.errors import BadParameter
from stratagem.base.renamed.upgrade import Upgrade
from stratagem.base.setting_types import TABLES, annotation_at, is_settings, options_of

_LISTS = (tuple, list, Sequence)
_BOOLEAN = PydanticCustomError("boolean", "Input should be a number, not true or false")
_LONGEST = 300
"""Maximum length of a value in an error message."""
_MOST = 40
"""Maximum number of renamed keys in an error message."""
_TABLES_DUE = ("dict_type", "mapping_type", "model_type", "model_attributes_type")
"""Types of pydantic's errors about a value that is no table."""
_SIZES = {"too_short": "at least", "too_long": "at most"}
"""Words for the sizes of lists and tables, by the type of pydantic's error."""


class Settings(BaseModel):
    """Frozen settings with typed fields and validated defaults; unknown keys are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _no_boolean_as_number(cls, data: Any) -> Any:
        """Refuse `true` where a number is due; it would be read as 1."""
        given = data if isinstance(data, Mapping) else {}
        wrong = [
            InitErrorDetails(type=_BOOLEAN, loc=(name,), input=given[name])
            for name, field in cls.model_fields.items()
            if name in given and _is_boolean_for_number(field.annotation, given[name])
        ]
        if wrong:
            raise ValidationError.from_exception_data(cls.__name__, wrong)
        return data

    @classmethod
    def read(cls, data: Mapping[str, Any], where: str = "") -> Self:
        """Read settings from plain data, such as a table of a TOML file."""
        try:
            return cls.model_validate(dict(data))
        except ValidationError as error:
            raise BadParameter(_sentence(cls, error, data, where)) from error

    @classmethod
    def read_old(cls, data: Mapping[str, Any], where: str = "") -> Self:
        """Read settings that the program wrote, perhaps with keys of an earlier release; nothing may be lost."""
        upgrade = Upgrade()
        table = upgrade.table(cls, data)
        if upgrade.lost:
            raise BadParameter(f"{where or 'The settings'} cannot be upgraded: {'; '.join(upgrade.lost)}.")
        return cls.read(table, where)


def renamed_sentence(renamed: Mapping[str, str]) -> str:
    """Write the error message about renamed keys: every old key with what is written now."""
    if len(renamed) == 1:
        [(old, new)] = renamed.items()
        return f"There is no setting {_short(old)} any more: {f'write {_short(new)}' if new else 'leave it out'}."
    shown = list(islice(renamed.items(), _MOST))
    more = f", and {len(renamed) - _MOST} more" if len(renamed) > _MOST else ""
    pairs = ", ".join(f"{_short(new) or 'nothing'} for {_short(old)}" for old, new in shown)
    return f"{len(renamed)} settings have new names: write {pairs}{more}."


def over_default(default: Settings, given: Any) -> Any:
    """Merge a table into settings; a key that it does not name keeps the settings' value."""
    if not isinstance(given, Mapping):
        return given
    own = {name: getattr(default, name) for name in type(default).model_fields}
    inside = {name: value for name, value in given.items() if isinstance(own.get(name), Settings)}
    return {**own, **given, **{name: over_default(own[name], value) for name, value in inside.items()}}


class FiniteSettings(Settings):
    """Settings whose numbers are all finite."""

    model_config = ConfigDict(allow_inf_nan=False)


def _sentence(cls: type[Settings], error: ValidationError, data: Mapping[str, Any], where: str) -> str:
    """Write the error message of the first mistake, with its key and the allowed values.

    Renamed keys come before every other mistake, and all at once.
    """
    upgrade = Upgrade()
    upgrade.table(cls, data, where)
    if upgrade.renamed:
        return renamed_sentence(upgrade.renamed)
    first, reason = _first(cls, error)
    steps = _steps(cls, first["loc"])
    key = _short(".".join([where, *(str(step) for step, _ in steps)]).strip("."))
    if first["type"] == "extra_forbidden":
        inside = _holder(cls, steps)
        return f"There is no setting {key}: there are {', '.join(inside.model_fields)}."
    if first["type"] == "missing":
        return f"The setting {key} must be given."
    if not key:  # settings that cannot stand together
        return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
    end = "" if reason.endswith("?") else "."
    if first["type"] == "value_error" and steps[-1][1] is not None:  # settings of one table
        return f"In {key}, {reason.rstrip('.')}{end}"
    return f"The setting {key} cannot be {_format_value(first['input'])}: {reason.rstrip('.')}{end}"


def _holder(cls: type[Settings], steps: Sequence[tuple[str | int, type[BaseModel] | None]]) -> type[BaseModel]:
    """Return the settings class that has the key of the last step."""
    return next((known for _, known in reversed(steps[:-1]) if known is not None), cls)


def _format_value(value: object) -> str:
    """Format a value, cut at the maximum length."""
    try:
        return _short(str(value) if isinstance(value, date | time) else repr(value))
    except (ValueError, RecursionError):  # a whole number of thousands of digits, or tables in tables without end
        return f"what it is, a {type(value).__name__} without end"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _first(cls: type[Settings], error: ValidationError) -> tuple[ErrorDetails, str]:
    """Return the first mistake and its reason; for a union of types, the intended one or the reasons of all."""
    every = error.errors()
    path = [step for step, _ in _steps(cls, every[0]["loc"])]
    paths = [[step for step, _ in _steps(cls, one["loc"])] for one in every]
    same = [one for one, own in zip(every, paths, strict=True) if own == path]
    inside = [one for one, own in zip(every, paths, strict=True) if own[: len(path)] == path != own]
    if inside and path:
        return inside[0], _reason(cls, inside[0])
    first, *others = (_reason(cls, one) for one in same)
    return same[0], "; or ".join([first, *(reason.removeprefix("Input should be ") for reason in others)])


def _reason(cls: type[Settings], one: ErrorDetails) -> str:
    context = one.get("ctx", {})
    if one["type"].startswith("union_tag"):
        tag = context["discriminator"].strip("'")
        return f"its `{tag}` is one of {', '.join(_tags(cls, one['loc'], tag))}"
    if one["type"] in ("tuple_type", "list_type"):
        if isinstance(text := one["input"], str) and text.startswith("["):
            return (
                "this is one text and no list, since texts in a list are in double quotes; a shell takes these away "
                f"unless there are single quotes around the whole --set, as in --set 'KEY={_quote_list(text)}'"
            )
        return f"Input should be a list in brackets, as in {_format_value([one['input']])}"
    if one["type"] in _TABLES_DUE:
        return "Input should be a table, as in { NAME = VALUE }"
    if one["type"] in _SIZES:
        words, bound = _SIZES[one["type"]], context["min_length" if one["type"] == "too_short" else "max_length"]
        return f"Input should have {words} {bound} {'entry' if bound == 1 else 'entries'}"
    return str(context["error"]) if "error" in context else one["msg"]


def _quote_list(text: str) -> str:
    """Write a list whose texts have lost their quotes."""
    items = (item.strip().strip("'\"") for item in text.strip("[] ").split(","))
    return _short(f"[{', '.join(json.dumps(item, ensure_ascii=False) for item in items if item)}]")


def _tags(cls: type[Settings], loc: Sequence[str | int], tag: str) -> list[str]:
    """Return the values of the tag that selects one of several settings."""
    here: Any = cls
    for step in loc:
        here = annotation_at(here, step)
    return [str(option.model_fields[tag].default) for option in options_of(here) if is_settings(option)]


def _steps(cls: type[Settings], loc: Sequence[str | int]) -> list[tuple[str | int, type[BaseModel] | None]]:
    """Return the keys on the path to a mistake, each with its settings class; tags of unions are left out."""
    here: Any = cls
    steps: list[tuple[str | int, type[BaseModel] | None]] = []
    for step in loc:
        options = options_of(here)
        kind = next((option for option in options if _is_kind(option, step)), None) if len(options) > 1 else None
        if kind is not None and steps:
            here, steps[-1] = kind, (steps[-1][0], kind)
            continue
        if len(options) > 1 and isinstance(step, str) and not any(map(_has_names, options)):
            continue
        here = annotation_at(here, step)
        steps.append((step, next((option for option in options_of(here) if is_settings(option)), None)))
    return steps


def _is_boolean_for_number(annotation: Any, value: Any) -> bool:
    """Test whether a value is a boolean, or holds one, where its type has a number and no boolean."""
    options = options_of(annotation)
    if isinstance(value, bool):
        return bool not in options and not {int, float}.isdisjoint(options)
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    inside = [kind for option in options for kind in _item_types(option)]
    return any(inside and all(_is_boolean_for_number(kind, item) for kind in inside) for item in items)


def _item_types(option: Any) -> list[Any]:
    """Return the types of the values of a table, or of the items of a list."""
    if get_origin(option) in TABLES:
        return [get_args(option)[1]]
    return [kind for kind in get_args(option) if kind is not ...] if get_origin(option) in _LISTS else []


def _has_names(option: Any) -> bool:
    """Test whether a type has named members."""
    return is_settings(option) or get_origin(option) in TABLES


def _is_kind(option: Any, step: str | int) -> bool:
    """Test whether these are the settings that a tag selects, as `learner = "naive"`."""
    if not is_settings(option):
        return False
    return any(get_args(field.annotation) == (step,) == (field.default,) for field in option.model_fields.values())
