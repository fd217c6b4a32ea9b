"""Python files that a user names, as in `mygame.py:Volunteer`: where they are, and which of them may be loaded.

To load a file is to run it. So a file is loaded only if the command line, a recipe or a program of the user names it,
or named it before, and neither it nor the neighbours that it imports have changed since. A record or a run folder may
come from anybody, and what it names is not loaded at its word.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from stratagem.cache import cache_folder
from stratagem.errors import BadParameter

SUFFIX = ".py"
_LARGE = 1 << 24
"""Size in bytes beyond which a file that a command names is not read."""
COMMAND = "cmd:"
"""Beginning of the name of an agent that is a process."""
_ENDS = re.compile(r"[()\[\]{}=,;'\"\n]")
"""Characters that end a name within a text."""
_KNOWN = "named-files"
"""Folder of the cache with a note of each file that was loaded at the user's word: the files that it imported."""


@dataclass
class FileTable:
    """Named files of a command."""

    paths: dict[str, Path] = field(default_factory=dict)
    """Resolved path by each text that names the file."""
    short: dict[Path, str] = field(default_factory=dict)
    """Text by which results name the file."""
    allowed: set[Path] = field(default_factory=set)
    """Files that the user names."""
    asked: set[str] = field(default_factory=set)
    """Texts of the user that name a file, found or not."""
    folders: list[Path] = field(default_factory=list)
    """Folders of the recipes that were read."""
    commands: list[str] = field(default_factory=list)
    """Texts of the user that name commands of agents."""
    modules: dict[Path, str] = field(default_factory=dict)
    """Names of the modules that were loaded from files."""
    noted: dict[Path, int] = field(default_factory=dict)
    """Number of modules of the process when a file was noted as loaded."""


_table = FileTable()


def table() -> FileTable:
    """Return the table of this process."""
    return _table


@contextmanager
def naming(texts: Iterable[str] = ()) -> Iterator[None]:
    """Begin a table, with the files that these texts of the user name; afterwards the one before holds again."""
    global _table
    before, _table = _table, FileTable()
    try:
        name_files(texts)
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


def is_file_name(text: str, folder: Path | None = None) -> bool:
    """Return whether a whole text is `FILE.py:NAME` of a file that exists, whatever characters its path has."""
    file, attribute = split_name(text.strip()) or ("", "")
    return attribute.isidentifier() and (file in _table.paths or any(map(_is_file, _places(file, folder))))


def name_files(texts: Iterable[str], folder: Path | None = None, *, allow: bool = True) -> None:
    """Look up the files that texts name, from the working directory and from the folder of their recipe.

    Without `allow` they may not be loaded: the texts are not the user's own.
    """
    texts = list(texts)
    if allow:
        _table.commands += [text for text in texts if COMMAND in text.casefold()]
    if folder is not None and folder not in _table.folders:
        _table.folders.append(folder)
    for file in files_in(texts, folder):
        if allow:
            _table.asked.add(file)
        path = next(filter(_is_file, _places(file, folder)), None)
        if path is not None:
            _bind(file, path.resolve())
            if allow:
                _table.allowed.add(path.resolve())


def allow_file(file: str | Path) -> None:
    """Allow a file to be loaded, whoever names it, by its path or by its last part; or a command to be run."""
    if str(file).casefold().startswith(COMMAND):
        _table.commands.append(str(file))
        return
    path = find_file(str(file))
    _table.allowed.add(path)
    _table.paths.setdefault(path.name, path)


def bind_file(file: str, path: Path) -> None:
    """Take a text of a run as the name of the file at this path, if there is one; it is not allowed by that."""
    if _is_file(path):
        _table.paths.setdefault(file, path.resolve())


def find_file(file: str) -> Path:
    """Return the resolved path of a named file."""
    stand_in = _table.paths.get(Path(file).name)
    if file not in _table.paths:
        folders = dict.fromkeys([Path.cwd(), *_table.folders])
        places = [place for folder in folders for place in _places(file, folder)]
        if not _is_file(places[0]) and stand_in not in _table.allowed:
            tried = " and ".join(dict.fromkeys(map(str, places)))
            hint = (
                "" if file in _table.asked else f"; where it is elsewhere, add {_allowing(f'PATH/{Path(file).name}')}"
            )
            raise BadParameter(f"There is no file {file!r}: tried {tried}{hint}.")
        _bind(file, places[0].resolve() if stand_in is None or _is_file(places[0]) else stand_in)
    return _table.paths[file]


def _allowing(file: str | Path) -> str:
    """Return how a user allows a file or a command; the command line says it in its own words."""
    return f"`sg.allow_file({str(file)!r})`"


def check_allowed(file: str, path: Path) -> None:
    """Refuse to load a file that the user has not named."""
    if path not in _table.allowed and not _is_known(path):
        odd = _ENDS.search(file)
        alone = f"; a path with the character {odd[0]} counts as named only where it stands alone" if odd else ""
        raise BadParameter(
            f"{file} would run the file {path}, which neither your command nor your recipe names, and which you have "
            f"not run as it is now, with the files that it imports{alone}: if you trust it, add {_allowing(path)}."
        )


def _is_known(path: Path) -> bool:
    """Return whether a file was loaded at the user's word, and it and what it imported are as they were then."""
    try:
        imported = json.loads(_note_of(path).read_text("utf-8"))
        return all(digest_of(path.parent / name) == digest for name, digest in imported.items())
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def check_command(command: str) -> None:
    """Refuse to run the command of an agent that the user has not named, now or before."""
    pattern = re.compile(rf"(?i:{COMMAND})\s*{re.escape(command)}\s*([,)'\"\]]|$)")
    note = _note_of_command(command)
    if any(pattern.search(text) for text in _table.commands):
        _remember(note)
    elif not note.exists():
        raise BadParameter(
            f"{COMMAND}{command} would run a program that neither your command nor your recipe names, and that you "
            f"have not run here as it is now: if you trust it, add {_allowing(COMMAND + command)}."
        )


def note_loaded(path: Path, neighbours: Iterable[Path] = ()) -> None:
    """Note that a file was loaded at the user's word; without a cache it has to be named the next time."""
    with suppress(OSError):  # the file may be gone
        _remember(_note_of(path), json.dumps({_below(path, other): digest_of(other) for other in neighbours}))


def _below(path: Path, other: Path) -> str:
    """Return the name of a neighbour as seen from the folder of a file."""
    return other.relative_to(path.parent).as_posix()


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
                paths += filter(_is_file, find_file(file).parent.glob(f"*{SUFFIX}"))
        found |= {str(path): fingerprint(path) for path in paths}
    return dict(sorted(found.items()))


def _bind(file: str, path: Path) -> None:
    if _table.paths.setdefault(file, path) != path:
        raise BadParameter(f"{file} names {_table.paths[file]} and {path}: give one of them by its whole path.")


def _is_free(text: str, path: Path) -> bool:
    """Return whether a text names this file, or none."""
    bound = _table.paths.get(text)
    return bound == path if bound else not _is_file(Path(text)) or Path(text).resolve() == path


def _places(file: str, folder: Path | None) -> list[Path]:
    path = Path(file)
    return list(dict.fromkeys([Path.cwd() / path, *([] if folder is None else [folder.resolve() / path])]))


def _note_of(path: Path) -> Path:
    """Return the note of a file with its present content; it is of the path, too, for a file imports its neighbours."""
    return _note(f"{path}\0{digest_of(path)}")


def _note_of_command(command: str) -> Path:
    """Return the note of a command in this folder, with the content of the files that it names."""
    return _note("\0".join([COMMAND, command, str(Path.cwd()), *map(fingerprint, _files_of(command))]))


def files_of_command(text: str) -> list[Path]:
    """Return the files that the command of an agent names: `cmd:python agent.py`, alone or within another player."""
    return _files_of(text.partition(COMMAND)[2])


def _files_of(command: str) -> list[Path]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    return [Path(word) for word in (word.rstrip(",)]") for word in words) if _is_file(Path(word))]


def fingerprint(path: Path) -> str:
    """Return the digest of a file, and of a very large one its size and time."""
    status = path.stat()
    return digest_of(path) if status.st_size <= _LARGE else f"{status.st_size}/{status.st_mtime_ns}"


def _note(text: str) -> Path:
    name = hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=16).hexdigest()
    return cache_folder() / _KNOWN / name


def _remember(note: Path, text: str = "{}") -> None:
    with suppress(OSError):
        if note.exists() and note.read_text("utf-8") == text:
            return
        note.parent.mkdir(parents=True, exist_ok=True)
        new = note.with_suffix(f".{os.getpid()}")
        new.write_text(text, "utf-8")
        new.replace(note)  # another process may read it at this moment


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, or a character that no path has
        return False
