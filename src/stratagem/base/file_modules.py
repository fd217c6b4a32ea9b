"""Modules of the files that a user names: each is loaded once a process, and can import its neighbours."""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import isabstract, isclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from stratagem.base import named_files
from stratagem.base.consent import table as consent_table
from stratagem.base.consent.table import Consent, check_file
from stratagem.base.errors import BadParameter, StratagemError, UnknownName
from stratagem.base.named_files import (
    FileTable,
    files_in,
    files_of_command,
    find_file,
    fingerprint,
    found_descriptions,
    short_name,
    table,
)

MODULES: dict[Path, ModuleType] = {}
"""Modules by resolved path."""
_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
"""Beginning of the paths of this package's files."""


class BrokenFile(StratagemError):
    """Named file that raises an error when it is loaded, or when one of its classes is made."""

    def __init__(self, file: str, path: Path, error: BaseException) -> None:
        said = error.msg if isinstance(error, SyntaxError) else error  # its text repeats the place
        reason = " ".join(f"{type(error).__name__}: {said}".split()).rstrip(".: ")
        line = _line(error, path)
        super().__init__(f"{file} cannot be used: {f'line {line} raises ' if line else ''}{reason}.")


def broken_by(error: BaseException) -> BrokenFile | None:
    """Return the failure of a named file, if it or what it called raised this error; None for any other error."""
    frames = traceback.extract_tb(error.__traceback__)
    while frames and not _is_known(frames[-1].filename):  # libraries, which may call further
        frames.pop()
    path = next((path for frame in reversed(frames[-2:]) for path in MODULES if str(path) == frame.filename), None)
    return None if path is None else BrokenFile(short_name(path), path, error)


@contextmanager
def broken_files() -> Iterator[None]:
    """Raise what a named file raises as its failure: another process knows the error, and not where it was raised."""
    try:
        yield
    except StratagemError:
        raise
    except (Exception, SystemExit) as error:
        if (broken := broken_by(error)) is None:
            raise
        raise broken from error


def factory_of(kind: str, file: str, attribute: str, base: type[Any] | None) -> Callable[..., Any]:
    """Return a class or a function of a file; `base` is the class of what it makes."""
    if not attribute:
        raise BadParameter(f"Name a class or a function of the file {file}, as in {file}:NAME.")
    module = file_module(file)
    functions = [name for name, value in vars(module).items() if name[0] != "_" and _is_own(value, module)]
    known = [f"{file}:{name}" for name in (*_candidates(module, base), *functions)]
    if not hasattr(module, attribute):
        raise UnknownName(kind, f"{file}:{attribute}", known)
    factory: Any = getattr(module, attribute)
    if not _can_make(factory, module, base):
        raise BadParameter(f"{file}:{attribute} is no {kind}: the file has {', '.join(known) or 'none'}.")
    return factory  # type: ignore[no-any-return]


def classes_of(file: str, base: type[Any]) -> dict[str, type[Any]]:
    """Return the classes of a file that can be meant, by name."""
    module = file_module(file)
    return {name: getattr(module, name) for name in _candidates(module, base)}


def file_module(file: str) -> ModuleType:
    """Return the module of a named file."""
    path = find_file(file)
    if path not in MODULES:
        check_file(file, path)
        MODULES[path] = _find_imported(path) or _load_module(file, path, _module_name(path))
    table().modules[path] = MODULES[path].__name__
    return MODULES[path]


def file_name_of(thing: object) -> str | None:
    """Return the name `FILE.py:NAME` of a class, a function or an object of a named file; None for every other."""
    module, path = sys.modules.get(thing.__module__), path_of(thing)
    if path is None:
        return None
    name = getattr(thing, "__qualname__", None) or _name_in(module, thing)
    return f"{short_name(path)}:{name}" if getattr(module, name, None) is thing else None


def path_of(thing: object) -> Path | None:
    """Return the path of the named file that a class, a function or an object is of; None for every other."""
    module = sys.modules.get(thing.__module__)
    return next((path for path, one in MODULES.items() if one is module), None)


def _name_in(module: ModuleType | None, thing: object) -> str:
    """Return the name of an object in its module; empty where it has none."""
    return next((name for name, value in vars(module).items() if value is thing), "")


def neighbours(path: Path) -> list[Path]:
    """Return the other files of a named file's folder, and of packages in it, that were imported."""
    folder = f"{path.parent}{os.sep}"
    modules = [
        (name, Path(file))
        for name, one in list(sys.modules.items())
        if (file := _file_of(one))[: len(folder)] == folder
    ]
    files = {file for name, file in modules if file.parent == path.parent or _is_of(name, file, path.parent)}
    return sorted(files - {path})


def _is_of(name: str, file: Path, folder: Path) -> bool:
    """Return whether a module was found from a folder on, and not in an environment of packages below it."""
    inside = folder.joinpath(*name.split("."))
    return file.with_suffix("") in (inside, inside / "__init__")


def file_digests(texts: Iterable[str]) -> dict[str, str]:
    """Return the digests of the files that texts name, by file name.

    The neighbours that they import count, the descriptions of games, and the files that the commands of agents name.
    """
    paths = list[Path]()
    for text in texts:
        paths += files_of_command(text)
        for file in files_in([text]):
            with suppress(BadParameter):  # there is no such file
                paths += [find_file(file), *neighbours(find_file(file))]
        paths += found_descriptions([text]).values()
    found: dict[str, str] = {}
    for path in dict.fromkeys(path.resolve() for path in paths):
        found[path.name] = f"{found.get(path.name, '')} {fingerprint(path)}".strip()
    return found


class HandedFiles(NamedTuple):
    """Named files of a process and what is allowed there, for another process that works for it."""

    files: FileTable
    consent: Consent

    def covers(self, other: HandedFiles) -> bool:
        """Return whether a process that got this can do what needs the other."""
        return self.files.modules == other.files.modules and self.consent.allowed == other.consent.allowed


def handed_files() -> HandedFiles:
    """Return what a process that works for this one gets."""
    return HandedFiles(table(), consent_table.consent())


def load_again(given: HandedFiles) -> None:
    """Take over from another process, and load its modules under their names there; all else is refused as there."""
    named_files.take(given.files)
    consent_table.take(given.consent)
    for path, name in given.files.modules.items():
        if path not in MODULES:
            MODULES[path] = _find_imported(path) or _load_module(given.files.short.get(path, str(path)), path, name)


def _load_module(file: str, path: Path, name: str) -> ModuleType:
    _add_folder(path)
    spec = spec_from_file_location(name, path)
    assert spec is not None, "the suffix is that of Python's source files"
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise BrokenFile(file, path, error) from error
    return module


def _add_folder(path: Path) -> None:
    """Let a file import its neighbours; they come last, so none of them takes the name of an installed module."""
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))


def _find_imported(path: Path) -> ModuleType | None:
    """Return the module that a neighbour has imported already."""
    module = sys.modules.get(path.stem)
    return module if module is not None and (file := _file_of(module)) and Path(file).resolve() == path else None


def _module_name(path: Path) -> str:
    """Return the name by which neighbours import the file, or another where an installed module has that."""
    _add_folder(path)
    spec = None if path.stem in sys.modules or not path.stem.isidentifier() else find_spec(path.stem)
    if spec is not None and spec.origin and Path(spec.origin).resolve() == path:
        return path.stem
    return f"{path.stem}_{hashlib.blake2b(bytes(path), digest_size=4).hexdigest()}"


def _file_of(module: object) -> str:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else ""


def _candidates(module: ModuleType, base: type[Any] | None) -> Iterator[str]:
    """Yield the names of the classes of a module that can be meant."""
    for name, value in vars(module).items():
        is_own = isclass(value) and value.__module__ == module.__name__ and name[0] != "_"
        if is_own and not isabstract(value) and _fits(value, base):
            yield name


def _can_make(value: object, module: ModuleType, base: type[Any] | None) -> bool:
    """Return whether a value is a fitting class, or a function of the file's own.

    Functions that a file imports are not called, since a record may name any of them.
    """
    if isinstance(value, partial):
        return _can_make(value.func, module, base)
    return _fits(value, base) if isclass(value) else _is_own(value, module)


def _is_own(value: object, module: ModuleType) -> bool:
    """Return whether a value is a function that the module itself defines, or an object of its own that is called."""
    return callable(value) and not isclass(value) and value.__module__ == module.__name__


def _fits(cls: type, base: type[Any] | None) -> bool:
    """Return whether a class is a subclass of `base`, or has what a protocol asks for."""
    if base is None:
        return True
    if getattr(base, "_is_protocol", False):
        return all(hasattr(cls, name) for name in vars(base) if name[0] != "_")
    return issubclass(cls, base)


def _is_known(file: str) -> bool:
    """Return whether a file is one of this package, or a named one."""
    return file.startswith(_PACKAGE) or any(str(path) == file for path in MODULES)


def _line(error: BaseException, path: Path) -> int | None:
    """Return the line of a file at which an error was raised."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None
