"""Checks of plain arguments: one sentence for each value of another kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter, StratagemError, WrongKind
from stratagem.base.files import check_writable
from stratagem.players.given import allow_given


def several(given: object, kind: str = "player", *, least: int = 1) -> list[Any]:
    """Return what a caller gave as one thing or as a sequence."""
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str | bytes) else [given]
    if len(listed) < least:
        raise BadParameter(f"There is no {kind}: give at least one, by name or as an object.")
    return listed


def names_of(given: object, kind: str) -> list[str]:
    """Return the names that a caller gave as one text or as a sequence."""
    listed = several(given, kind, least=0)
    for name in listed:
        if not isinstance(name, str):
            raise WrongKind(kind, "given by its name", name)
    return listed


def as_text(given: object, kind: str) -> str:
    """Return a name that a caller gave, whose files may be loaded."""
    if not isinstance(given, str):
        raise WrongKind(kind, "given by its name", given)
    allow_given(given)
    return given


def as_path(given: object, kind: str) -> Path:
    """Return a path that a caller gave as a text or as a path."""
    if not isinstance(given, str | PathLike):
        raise WrongKind(kind, "given by its path", given)
    if given == "":  # as a path it would be the working folder
        raise BadParameter(f"The path of the {kind} is empty: name one.")
    return Path(given)


def new_file(given: object) -> Path:
    """Return the path of a file that is to be written; one that is there is refused."""
    file = as_path(given, "file")
    if file.exists():
        raise StratagemError(f"{file} is there already: name another file.")
    return file


def as_folder(given: object) -> Path | None:
    """Return the folder of a record; None where there is to be none."""
    return None if given is None else as_path(given, "record")


def as_output(given: object) -> Path | None:
    """Return the file for the result, which can be written; None where there is to be none."""
    if given is None:
        return None
    path = as_path(given, "file")
    check_writable(path)
    return path


def as_changes(given: object) -> dict[str, object]:
    """Return changed settings by their places."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise WrongKind("change", 'an entry of a mapping, as in {"sepo.iterations": 3}', given)
    for place in given:
        if not isinstance(place, str):
            raise WrongKind("place of a setting", "a text such as sepo.iterations", place)
    return dict(given)
