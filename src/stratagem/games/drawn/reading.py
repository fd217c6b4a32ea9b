"""Descriptions of games in TOML: read with the line and the field of each mistake, and written back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from stratagem.base.consent.table import check_read
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.files import parse_toml
from stratagem.games.drawn.description import GameDescription, Step, StepError
from stratagem.games.drawn.items import DealtItem, ItemError
from stratagem.games.drawn.signals import SignalError, SignalRule
from stratagem.games.drawn.steps import STEPS
from stratagem.games.drawn.steps.choosing import Option

_LONGEST = 20_000
"""Largest number of characters of a description."""
_LARGEST = 1_000_000
TEXT = "the description of the game"
"""Name of a description without a file."""


class DescriptionText(NamedTuple):
    """Text of a description, in which the lines of mistakes are found."""

    text: str
    name: str = TEXT
    """Name by which mistakes speak of it, such as that of its file."""


NO_TEXT = DescriptionText("")


@lru_cache(maxsize=256)
def read_description(text: str, name: str = TEXT) -> GameDescription:
    """Return the game that a text in TOML describes; `name` is that of its file."""
    source = DescriptionText(text, name)
    if len(text) > _LONGEST:
        raise _mistake(source, (), f"more than {_LONGEST:,} characters")
    try:
        data = parse_toml(text)
    except ValueError as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        problem = re.sub(r" \(at [^()]*\)$", "", str(error))
        raise _mistake(source, (), f"a mistake of TOML: {problem[:200]}", int(found[1] or 0) if found else 0) from None
    return describe_data(data, source)


def describe_data(data: Mapping[str, Any], source: DescriptionText = NO_TEXT) -> GameDescription:
    """Return the game that nested data describes; `source` is where its lines are found."""
    known = {field.name: field for field in fields(GameDescription)}
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in known:
            raise _mistake(source, (key,), f"the unknown key `{key}`: a game has {', '.join(known)}")
        if key == "items":
            values[key] = tuple(
                _read(DealtItem, one, source, ("items", n)) for n, one in enumerate(_tables(source, key, value))
            )
        elif key == "signals":
            values[key] = tuple(
                _read(SignalRule, one, source, (key, n)) for n, one in enumerate(_tables(source, key, value))
            )
        elif key == "steps":
            values[key] = tuple(_read_step(one, source, n) for n, one in enumerate(_tables(source, key, value)))
        else:
            values[key] = _convert(get_type_hints(GameDescription)[key], value, source, (key,))
    for name in ("name", "steps"):
        if name not in values:
            raise _mistake(source, (), f"no `{name}`")
    try:
        return GameDescription(**values)
    except (StepError, ItemError, SignalError) as error:
        key, found = _owner_of(error)
        number = next((n for n, one in enumerate(values[key]) if one is found), 0)
        raise _mistake(source, (key, number, error.field.partition(" ")[0]), str(error)) from None
    except BadParameter as error:
        raise _mistake(source, _named_field(error, known), str(error)) from None


def _owner_of(error: StepError | ItemError | SignalError) -> tuple[str, object]:
    """Return the list in which a mistake is, and the step, item or signal."""
    if isinstance(error, StepError):
        return "steps", error.step
    return ("items", error.item) if isinstance(error, ItemError) else ("signals", error.rule)


def _named_field(error: Exception, known: Iterable[str]) -> tuple[str, ...]:
    """Return the field that the text of an error names; none where it names none of them."""
    return tuple([field for field in re.findall(r"`(\w+)`", str(error)) if field in known][:1])


def _tables(source: DescriptionText, key: str, value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise _mistake(source, (key,), f"`{key}` that are no tables: write each as [[{key}]]")
    return value


def _read_step(data: Mapping[str, Any], source: DescriptionText, number: int) -> Step:
    do = data.get("do")
    if not isinstance(do, str) or do not in STEPS:
        raise _mistake(source, ("steps", number, "do"), f"the unknown step {do!r}: `do` is one of {', '.join(STEPS)}")
    step: Step = _read(STEPS[do], {key: value for key, value in data.items() if key != "do"}, source, ("steps", number))
    return step


def _read(kind: type[Any], data: Mapping[str, Any], source: DescriptionText, place: tuple[str | int, ...]) -> Any:
    """Return an item, a step or an option from its table."""
    hints, known = get_type_hints(kind), [field.name for field in fields(kind)]
    if odd := next((key for key in data if key not in known), None):
        called = {DealtItem: "item", SignalRule: "signal"}.get(kind) or getattr(kind, "do", "option")
        raise _mistake(source, (*place, odd), f"the unknown key `{odd}`: {called} has {', '.join(known)}")
    values = {key: _convert(hints[key], value, source, (*place, key)) for key, value in data.items()}
    try:
        return kind(**values)
    except TypeError:
        missing = [field.name for field in fields(kind) if _is_needed(field) and field.name not in values]
        raise _mistake(source, place, f"no `{missing[0]}`") from None
    except StratagemError as error:
        raise _mistake(source, (*place, *_named_field(error, known)), str(error)) from None


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _convert(hint: Any, value: Any, source: DescriptionText, place: tuple[str | int, ...]) -> Any:
    """Return a value in the type of its field; refused where it has another one."""
    wanted, convert = _TYPES.get(hint, (None, None))
    if wanted is not None:
        if isinstance(value, wanted) and (hint is bool or not isinstance(value, bool)):
            return _check_size(convert(value) if convert else value, source, place)
    elif get_origin(hint) is tuple and isinstance(value, list):
        inner = get_args(hint)[0]
        return tuple(_convert_element(inner, one, source, (*place, n)) for n, one in enumerate(value))
    elif get_args(hint) and value in get_args(hint):  # a literal
        return value
    field = next(one for one in reversed(place) if isinstance(one, str))
    raise _mistake(source, place, f"{value!r} as `{field}`, where {_name_type(hint)} is needed")


_TYPES: dict[Any, tuple[Any, Any]] = {
    str: (str, None),
    int: (int, None),
    float: ((int, float), float),
    bool: (bool, None),
}


def _convert_element(hint: Any, value: Any, source: DescriptionText, place: tuple[str | int, ...]) -> Any:
    if hint is Any:
        return _freeze(value, source, place)
    if hint is Option:
        return _read(Option, value if isinstance(value, Mapping) else {"word": str(value)}, source, place)
    if hint == str | int and isinstance(value, str | int) and not isinstance(value, bool):
        return _check_size(value, source, place)
    if hint is str and isinstance(value, int) and not isinstance(value, bool):
        return str(_check_size(value, source, place))
    return _convert(hint, value, source, place)


def _check_size(value: Any, source: DescriptionText, place: tuple[str | int, ...]) -> Any:
    """Refuse a number that is none, and one that is beyond what a game needs."""
    if isinstance(value, int | float) and not -_LARGEST <= value <= _LARGEST:  # nan too
        field = next(one for one in reversed(place) if isinstance(one, str))
        raise _mistake(source, place, f"a number in `{field}` that is not from {-_LARGEST:,} to {_LARGEST:,}")
    return value


def _freeze(value: Any, source: DescriptionText, place: tuple[str | int, ...]) -> Any:
    if isinstance(value, list):
        return tuple(_freeze(one, source, place) for one in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(_check_size(value, source, place))
    raise _mistake(source, place, f"{value!r} among its amounts, where numbers are needed")


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


def _mistake(source: DescriptionText, place: tuple[str | int, ...], problem: str, line: int = 0) -> BadParameter:
    """Return the error of a place in a description, with its line where there is a text."""
    line = line or _line_of(source.text, place)
    where = f"{source.name[0].upper()}{source.name[1:]}" if source.name == TEXT else source.name
    where = f"{where}, line {line}," if line else where
    problem = problem.rstrip(".")
    if re.match(r"The (step|item|steps|signal) |A game ", problem):
        return BadParameter(f"{where} is wrong: {problem[0].lower()}{problem[1:]}.")
    return BadParameter(f"{where} has {problem}.")


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
    """Return the text of a file that describes a game; refused where nobody has allowed to read it."""
    check_read(path)
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LONGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The file {path.name} cannot be read as text: {error}.") from error


def write_description(game: GameDescription) -> str:
    """Return the TOML from which `read_description` makes an equal game."""
    lines = _write_fields(game, skip=("items", "steps", "signals"))
    for item in game.items:
        lines += ["", "[[items]]", *_write_fields(item)]
    for step in game.steps:
        lines += ["", "[[steps]]", f'do = "{step.do}"', *_write_fields(step)]
    for rule in game.signals:
        lines += ["", "[[signals]]", *_write_fields(rule)]
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
