"""Files that a user names, as in `mygame.py:Volunteer` and `mygame.toml`: their places, and their names in results.

To load a Python file is to run it, and a description of a game in TOML is read: `consent` decides about both.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from stratagem.base.errors import BadParameter

SUFFIX = ".py"
DESCRIPTION_SUFFIX = ".toml"
"""Suffix of the files that describe a game as data."""
_LARGE = 1 << 24
"""Size in bytes beyond which a file that a command names is not read."""
COMMAND = "cmd:"
"""Beginning of the name of an agent that is a process."""
_ENDS = re.compile(r"[()\[\]{}=,;'\"\n]")
"""Characters that end a name within a text."""


@dataclass
class FileTable:
    """Named files of a command."""

    paths: dict[str, Path] = field(default_factory=dict)
    """Resolved path by each text that names the file."""
    short: dict[Path, str] = field(default_factory=dict)
    """Text by which results name the file."""
    asked: set[str] = field(default_factory=set)
    """Texts of the user that name a file, found or not."""
    folders: list[Path] = field(default_factory=list)
    """Folders of the recipes that were read."""
    modules: dict[Path, str] = field(default_factory=dict)
    """Names of the modules that were loaded from files."""


_table = FileTable()


def table() -> FileTable:
    """Return the table of this process."""
    return _table


@contextmanager
def naming() -> Iterator[None]:
    """Begin an empty table; afterwards the one before holds again."""
    global _table
    before, _table = _table, FileTable()
    try:
        yield
    finally:
        _table = before


def take(given: FileTable) -> None:
    """Take over the table of another process."""
    global _table
    _table = given


def split_name(name: str) -> tuple[str, str] | None:
    """Split `FILE.py:NAME`; None for a name that is not of this form."""
    file, colon, attribute = name.rpartition(":")
    if colon and file.endswith(SUFFIX):
        return file, attribute
    return (name, "") if name.endswith(SUFFIX) else None


def files_in(texts: Iterable[str], folder: Path | None = None) -> Iterator[str]:
    """Yield the file of each `FILE.py:NAME` in some texts; a text that is such a name as a whole has this one."""
    for text in texts:
        for piece in [text] if is_file_name(text, folder) else _ENDS.split(text):
            if (end := piece.find(f"{SUFFIX}:")) >= 0:
                yield piece[: end + len(SUFFIX)].strip()


def descriptions_in(texts: Iterable[str], folder: Path | None = None) -> Iterator[str]:
    """Yield each text that ends as the name of a description of a game, `FILE.toml`, alone or within another name."""
    for text in texts:
        for piece in [text] if is_file_name(text, folder) else _ENDS.split(text):
            if piece.strip().endswith(DESCRIPTION_SUFFIX):
                yield piece.strip().rpartition(":")[2]  # after a prefix such as `rules:`


def is_file_name(text: str, folder: Path | None = None) -> bool:
    """Return whether a whole text names a file that exists, whatever characters its path has."""
    whole = text.strip()
    file, attribute = (whole, "_") if whole.endswith(DESCRIPTION_SUFFIX) else split_name(whole) or ("", "")
    return attribute.isidentifier() and (file in _table.paths or any(map(is_file, _places(file, folder))))


def look_up(texts: Iterable[str], folder: Path | None = None) -> None:
    """Look up the files that texts name, from the working directory and from the folder of their recipe."""
    if folder is not None and folder not in _table.folders:
        _table.folders.append(folder)
    for file in files_in(list(texts), folder):
        path = next(filter(is_file, _places(file, folder)), None)
        if path is not None:
            _bind(file, path.resolve())


def odd_character(file: str) -> str:
    """Return a character of a path that ends a name within a text; empty where it has none."""
    odd = _ENDS.search(file)
    return odd[0] if odd else ""


def bind_file(file: str, path: Path) -> None:
    """Take a text of a run as the name of the file at this path, if there is one; it is not allowed by that."""
    if is_file(path):
        _table.paths.setdefault(file, path.resolve())


def find_file(file: str) -> Path:
    """Return the resolved path of a named file."""
    if file not in _table.paths:
        folders = dict.fromkeys([Path.cwd(), *_table.folders])
        places = [place for folder in folders for place in _places(file, folder)]
        path = next(filter(is_file, places[:1]), _table.paths.get(Path(file).name))
        if path is None:
            tried = " and ".join(dict.fromkeys(map(str, places)))
            elsewhere = f"PATH/{Path(file).name}"
            hint = "" if file in _table.asked else f"; where it is elsewhere, add `sg.allow({elsewhere!r})`"
            raise BadParameter(f"There is no file {file!r}: tried {tried}{hint}.")
        _bind(file, path.resolve())
    return _table.paths[file]


def find_description(file: str) -> Path:
    """Return the resolved path of a description of a game: the copy of a run, or the file where it is looked for."""
    if (known := _table.paths.get(file)) is not None:
        return known
    places = [place for folder in (Path.cwd(), *_table.folders) for place in _places(file, folder)]
    path = next(filter(is_file, places), _table.paths.get(Path(file).name))
    if path is None:
        raise BadParameter(f"There is no file {file!r}: tried {' and '.join(dict.fromkeys(map(str, places)))}.")
    return path.resolve()


def short_name(path: Path) -> str:
    """Return the shortest text that names the file at a path in this process."""
    if path not in _table.short:
        name = next(text for text in (path.name, str(path)) if text == str(path) or _is_free(text, path))
        _table.paths[name] = path
        _table.short[path] = name
    return _table.short[path]


def digest_of(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def content_of(texts: Iterable[str]) -> dict[str, str]:
    """Return the files that texts name, with the Python files beside them, by path with their digests.

    A file may import any neighbour, so each of them counts.
    """
    found: dict[str, str] = {}
    for text in texts:
        paths = files_of_command(text)
        for file in files_in([text]):
            with suppress(BadParameter):  # there is no such file
                paths += filter(is_file, find_file(file).parent.glob(f"*{SUFFIX}"))
        paths += found_descriptions([text]).values()
        found |= {str(path): fingerprint(path) for path in paths}
    return dict(sorted(found.items()))


def found_descriptions(texts: Iterable[str]) -> dict[str, Path]:
    """Return the paths of the descriptions of games that texts name and that there are, by name."""
    found = dict[str, Path]()
    for file in descriptions_in(texts):
        with suppress(BadParameter):  # there is no such file
            found[file] = find_description(file)
    return found


def _bind(file: str, path: Path) -> None:
    if _table.paths.setdefault(file, path) != path:
        raise BadParameter(f"{file} names {_table.paths[file]} and {path}: give one of them by its whole path.")


def _is_free(text: str, path: Path) -> bool:
    """Return whether a text names this file, or none."""
    bound = _table.paths.get(text)
    return bound == path if bound else not is_file(Path(text)) or Path(text).resolve() == path


def _places(file: str, folder: Path | None) -> list[Path]:
    path = Path(file)
    return list(dict.fromkeys([Path.cwd() / path, *([] if folder is None else [folder.resolve() / path])]))


def files_of_command(text: str) -> list[Path]:
    """Return the files that the command of an agent names: `cmd:python agent.py`, alone or within another player."""
    return _files_of(text.partition(COMMAND)[2])


def _files_of(command: str) -> list[Path]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return [Path(word) for word in (word.rstrip(",)]") for word in words) if is_file(Path(word))]


def fingerprint(path: Path) -> str:
    """Return the digest of a file, and of a very large one its size and time."""
    status = path.stat()
    return digest_of(path) if status.st_size <= _LARGE else f"{status.st_size}/{status.st_mtime_ns}"


def is_file(path: Path) -> bool:
    """Return whether there is a file at a path, whatever its text."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, or a character that no path has
        return False
