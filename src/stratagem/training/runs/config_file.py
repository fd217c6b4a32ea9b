"""Settings as TOML, written in full and read back unchanged.

TOML has no null, so a value that is None is left out, with a comment in its place. Settings that would not be read back
unchanged, because they are None where the default is something else, are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.files import parse_toml, read_small, reason
from stratagem.base.settings import Settings

_BARE = re.compile(r"[A-Za-z0-9_-]+")
S = TypeVar("S", bound=Settings)


def settings_toml(settings: Settings) -> str:
    """Write the settings as a TOML document."""
    text = _document(settings)
    again = type(settings).read(tomllib.loads(text))
    if again != settings and _document(again) != text:  # with a value that is not a number, equals differ
        names = [name for name in type(settings).model_fields if getattr(again, name) != getattr(settings, name)]
        raise BadParameter(f"{', '.join(names)} cannot be None in a run's settings: TOML has no word for it.")
    return text


def read_settings(cls: type[S], path: Path) -> S:
    """Read the settings in the TOML file of a run, which may have keys of an earlier release."""
    return cls.read_old(read_toml(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file."""
    try:
        return parse_toml(read_small(path))
    except (OSError, ValueError) as error:
        raise BadRecord(f"{path} cannot be read as TOML: {reason(error)}.") from error


def recipe_digest(data: Mapping[str, Any]) -> str:
    """Return the digest of a configuration."""
    text = json.dumps(data, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def settings_digest(settings: Settings) -> str:
    """Return the digest of the `config.toml` of a run with these settings."""
    return recipe_digest(tomllib.loads(settings_toml(settings)))


def _document(settings: Settings) -> str:
    return "\n".join(_table(settings.model_dump(mode="json"), ())).strip() + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Write the lines of a table: its own values first, since whatever follows a header belongs to that."""
    inner = {name: value for name, value in table.items() if _is_table(value) or _is_tables(value)}
    for name, value in table.items():
        if value is None:
            yield f"# {_key(name)} is none"
        elif name not in inner:
            yield f"{_key(name)} = {toml_value(value)}"
    for name, value in inner.items():
        where = (*path, _key(name))
        header = "[{}]" if _is_table(value) else "[[{}]]"
        for piece in [value] if _is_table(value) else value:
            yield f"\n{header.format('.'.join(where))}"
            yield from _table(piece, where)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def toml_value(value: Any) -> str:
    """Write a value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if _is_table(value):
        pairs = (f"{_key(name)} = {toml_value(inner)}" for name, inner in value.items() if inner is not None)
        return f"{{{', '.join(pairs)}}}"
    raise BadParameter(f"The value {value!r} cannot be written as TOML, which knows numbers, texts, lists and tables.")


def _text(text: str) -> str:
    """Write a basic string, which is the same as in JSON but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
