"""Recipes as files: TOML that may go on from other files, with settings changed from outside."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from stratagem.errors import BadParameter
from stratagem.players.modes import MODES
from stratagem.settings import FiniteSettings


def _known(mode: str) -> str:
    if mode not in MODES:
        raise ValueError(f"the modes are {', '.join(MODES)}")
    return mode


ModeName = Annotated[str, AfterValidator(_known)]
"""How a model comes to its action, by name."""


class AnyRecipe(FiniteSettings):
    """What recipes of all algorithms have."""

    seed: int = 0
    """What all that is random follows from."""
    budget: int = Field(default=4096, ge=1)
    """Tokens that are read at once in training; it changes memory, not results."""


def recipe_data(path: Path, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a recipe's file says, with some settings changed: `{"sepo.alpha": "3"}`.

    A file may say `extends = ["a.toml", "b.toml"]`, by paths from its own: what each sets takes the place of what the
    ones before it set, and its own settings the place of theirs.
    """
    data = _data(path, ())
    for place, value in (changes or {}).items():
        _change(data, place, value)
    return data


def _data(path: Path, below: tuple[Path, ...]) -> dict[str, Any]:
    """The settings of a file and of those that it extends."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The recipe {path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadParameter(f"The recipe {path} is no TOML: {error}.") from error
    extended = data.pop("extends", [])
    if not isinstance(extended, list) or not all(isinstance(name, str) for name in extended):
        raise BadParameter(f'`extends` in {path} is a list of recipes, such as ["kuhn.toml"].')
    if path.resolve() in below:
        raise BadParameter(f"The recipe {path} extends itself.")
    whole: dict[str, Any] = {}
    for name in extended:
        whole = over(whole, _data(path.parent / name, (*below, path.resolve())))
    return over(whole, data)


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two tables as one: tables in them are joined, other values of `above` take the place of those of `below`."""
    joined = dict(below)
    for name, value in above.items():
        inner = joined.get(name)
        joined[name] = over(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return joined


def _change(data: dict[str, object], place: str, value: str) -> None:
    """Set `a.b` to a TOML value, or to a text where it is none."""
    *tables, name = place.split(".")
    for table in tables:
        inner = data.setdefault(table, {})
        if not isinstance(inner, dict):
            raise BadParameter(f"{place} names a setting inside {table}, which is no table.")
        data = inner
    try:
        data[name] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        data[name] = value
