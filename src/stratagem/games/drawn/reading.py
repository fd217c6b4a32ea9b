"""Descriptions of games in TOML: read with the line and the field of each mistake, and written back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.files import parse_toml
from stratagem.games.drawn.description import GameDescription, Item
from stratagem.games.drawn.steps import STEPS
from stratagem.games.drawn.steps.base import Step, StepError
from stratagem.games.drawn.steps.choosing import Option

_LONGEST = 20_000
"""Largest number of characters of a description."""


@lru_cache(maxsize=256)
def read_description(text: str) -> GameDescription:
    """Return the game that a text in TOML describes."""
    if len(text) > _LONGEST:
        raise BadParameter(f"A description of a game has at most {_LONGEST:,} characters, and this one {len(text):,}.")
    return describe_data(parse_toml(text), text)


def describe_data(data: Mapping[str, Any], text: str = "") -> GameDescription:
    """Return the game that nested data describes; `text` is where its lines are found."""
    known = {field.name: field for field in fields(GameDescription)}
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in known:
            raise _mistake(text, (key,), f"the unknown key `{key}`: a game has {', '.join(known)}")
        if key == "items":
            values[key] = tuple(_read(Item, one, text, ("items", n)) for n, one in enumerate(_tables(text, key, value)))
        elif key == "steps":
            values[key] = tuple(_read_step(one, text, n) for n, one in enumerate(_tables(text, key, value)))
        else:
            values[key] = _convert(get_type_hints(GameDescription)[key], value, text, (key,))
    for name in ("name", "steps"):
        if name not in values:
            raise BadParameter(f"A description of a game needs `{name}`.")
    try:
        return GameDescription(**values)
    except StepError as error:
        place = next((n for n, step in enumerate(values["steps"]) if step is error.step), None)
        raise _mistake(text, () if place is None else ("steps", place, error.field), str(error)) from None


def _tables(text: str, key: str, value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise _mistake(text, (key,), f"`{key}` that are no tables: write each as [[{key}]]")
    return value


def _read_step(data: Mapping[str, Any], text: str, number: int) -> Step:
    do = data.get("do")
    if do not in STEPS:
        raise _mistake(text, ("steps", number, "do"), f"the unknown step {do!r}: `do` is one of {', '.join(STEPS)}")
    step: Step = _read(STEPS[do], {key: value for key, value in data.items() if key != "do"}, text, ("steps", number))
    return step


def _read(kind: type[Any], data: Mapping[str, Any], text: str, place: tuple[str | int, ...]) -> Any:
    """Return an item, a step or an option from its table."""
    hints, known = get_type_hints(kind), [field.name for field in fields(kind)]
    if odd := next((key for key in data if key not in known), None):
        called = getattr(kind, "do", kind.__name__.lower())
        raise _mistake(text, (*place, odd), f"the unknown key `{odd}`: {called} has {', '.join(known)}")
    values = {key: _convert(hints[key], value, text, (*place, key)) for key, value in data.items()}
    try:
        return kind(**values)
    except TypeError:
        missing = [field.name for field in fields(kind) if _is_needed(field) and field.name not in values]
        raise _mistake(text, place, f"no `{missing[0]}`") from None
    except StratagemError as error:
        raise _mistake(text, place, str(error)) from None


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _convert(hint: Any, value: Any, text: str, place: tuple[str | int, ...]) -> Any:
    """Return a value in the type of its field; refused where it has another one."""
    wanted, convert = _TYPES.get(hint, (None, None))
    if wanted is not None:
        if isinstance(value, wanted) and (hint is bool or not isinstance(value, bool)):
            return convert(value) if convert else value
    elif get_origin(hint) is tuple and isinstance(value, list):
        inner = get_args(hint)[0]
        return tuple(_convert_element(inner, one, text, (*place, n)) for n, one in enumerate(value))
    elif get_args(hint) and value in get_args(hint):  # a literal
        return value
    field = next(one for one in reversed(place) if isinstance(one, str))
    raise _mistake(text, place, f"{value!r} as `{field}`, where {_name_type(hint)} is needed")


_TYPES: dict[Any, tuple[Any, Any]] = {
    str: (str, None),
    int: (int, None),
    float: ((int, float), float),
    bool: (bool, None),
}


def _convert_element(hint: Any, value: Any, text: str, place: tuple[str | int, ...]) -> Any:
    if hint is Any:
        return _freeze(value, text, place)
    if hint is Option:
        return _read(Option, value if isinstance(value, Mapping) else {"word": str(value)}, text, place)
    if hint == str | int and isinstance(value, str | int) and not isinstance(value, bool):
        return value
    if hint is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _convert(hint, value, text, place)


def _freeze(value: Any, text: str, place: tuple[str | int, ...]) -> Any:
    if isinstance(value, list):
        return tuple(_freeze(one, text, place) for one in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise _mistake(text, place, f"{value!r} among its amounts, where numbers are needed")


def _name_type(hint: Any) -> str:
    names = {
        str | int: "a name or a whole number",
        str: "a text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
    }
    if hint in names:
        return names[hint]
    return "a list" if get_origin(hint) is tuple else f"one of {', '.join(map(str, get_args(hint)))}"


def _mistake(text: str, place: tuple[str | int, ...], problem: str) -> BadParameter:
    """Return the error of a place in a description, with its line where there is a text."""
    line = _line_of(text, place)
    where = f", line {line}," if line else ""
    problem = problem.rstrip(".")
    if problem.startswith(("The step", "The item", "A game")):
        return BadParameter(f"The description of the game{where} is wrong: {problem[0].lower()}{problem[1:]}.")
    return BadParameter(f"The description of the game{where} has {problem}.")


def _line_of(text: str, place: tuple[str | int, ...]) -> int:
    """Return the line of a key: in the n-th table of an array, or before the first table; 0 where it is not found."""
    if not place or not text:
        return 0
    lines, first, last = text.splitlines(), 0, 0
    heads = [n for n, line in enumerate(lines) if line.lstrip().startswith("[") and "=" not in line]
    if len(place) > 1 and isinstance(place[1], int):
        tables = [n for n in heads if re.fullmatch(rf"\[\[\s*{place[0]}\s*\]\].*", lines[n].strip())]
        if place[1] >= len(tables):
            return next((n for n, line in enumerate(lines, 1) if re.match(rf"\s*{place[0]}\s*=", line)), 0)
        first = tables[place[1]]
        last = next((n for n in heads if n > first), len(lines))
        key = place[2] if len(place) > 2 else None
    else:
        first, last, key = -1, heads[0] if heads else len(lines), place[0]
    if key is not None:
        for n in range(first + 1, last):
            if re.match(rf"\s*{re.escape(str(key))}\s*=", lines[n]):
                return n + 1
    return max(first, 0) + 1


def read_file(path: Path) -> str:
    """Return the text of a file that describes a game."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LONGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The file {path.name} cannot be read as text: {error}.") from error


def write_description(game: GameDescription) -> str:
    """Return the TOML from which `read_description` makes an equal game."""
    lines = _write_fields(game, skip=("items", "steps"))
    for item in game.items:
        lines += ["", "[[items]]", *_write_fields(item)]
    for step in game.steps:
        lines += ["", "[[steps]]", f'do = "{step.do}"', *_write_fields(step)]
    return "\n".join(lines) + "\n"


def _write_fields(value: Any, skip: tuple[str, ...] = ()) -> list[str]:
    """Return a line for each field that is not its default."""
    return [
        f"{field.name} = {_write(found)}"
        for field in fields(value)
        if field.name not in skip and (found := getattr(value, field.name)) != field.default
    ]


def _write(value: Any) -> str:
    if isinstance(value, Option):
        inner = [
            f"{field.name} = {_write(v)}"
            for field in fields(value)
            if (v := getattr(value, field.name)) != field.default
        ]
        return _write(value.word) if len(inner) == 1 else f"{{ {', '.join(inner)} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_write, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if value == int(value) else repr(value)
    if isinstance(value, int):
        return str(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
