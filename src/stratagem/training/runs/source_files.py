"""Files of a run: Python files, prompt templates and games as data that its recipe names, and what those import.

A run keeps a copy of each, as provenance. The copies of Python files are never loaded by themselves: what is loaded is
the file that the user named. A template or a game as data is read and not run, so the run goes on with its copy.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from stratagem.base.consent.table import allow_file
from stratagem.base.file_modules import neighbours
from stratagem.base.named_files import (
    DESCRIPTION_SUFFIX,
    bind_file,
    digest_of,
    files_in,
    find_file,
    found_descriptions,
    is_file,
)
from stratagem.base.settings import Settings
from stratagem.language.prompting.templates.lookup import SUFFIX, find_template, templates_in

FOLDER = "files"
"""Folder of the copies in a run."""


class SourceFile(Settings):
    """File that the recipe names: Python file, template or game; or Python file that such a file imports."""

    name: str
    """Name in the recipe."""
    path: str
    """Path of the file when the run began."""
    digest: str
    """Digest of the file."""
    copied_as: str
    """Name of the copy in the run's folder `files`."""


def source_files(text: str) -> tuple[SourceFile, ...]:
    """Return the files that the text of a recipe names, and the neighbours that they import."""
    files: dict[Path, SourceFile] = {}
    for name, path in _find_files(text):
        number = sum(other.name == path.name for other in files)
        if path not in files:
            copied_as = f"{number + 1}-{path.name}" if number else path.name
            files[path] = SourceFile(name=name, path=str(path), digest=digest_of(path), copied_as=copied_as)
    return tuple(files.values())


def _find_files(text: str) -> Iterator[tuple[str, Path]]:
    named = {name: find_file(name) for name in files_in([text])}
    yield from named.items()
    yield from ((name, find_template(name)) for name in templates_in([text]))
    yield from found_descriptions([text]).items()
    for path in named.values():
        yield from ((other.name, other) for other in neighbours(path))


def copy_source_files(files: Sequence[SourceFile], folder: Path) -> None:
    """Copy the files into the folder of a run."""
    for file in files:
        (folder / FOLDER).mkdir(exist_ok=True)
        shutil.copyfile(file.path, folder / FOLDER / file.copied_as)


def bind_source_files(files: Sequence[SourceFile], folder: Path) -> None:
    """Find the files where they were when the run began; that does not allow to run them. Copies are read."""
    for file in files:
        copy = folder / FOLDER / file.copied_as
        if file.name.endswith((SUFFIX, DESCRIPTION_SUFFIX)):
            bind_file(file.name, copy)
        if file.name.endswith(DESCRIPTION_SUFFIX) and is_file(copy) and copy.resolve().parent == copy.parent.resolve():
            allow_file(str(copy))
        bind_file(file.name, Path(file.path))


def changed_source_files(files: Sequence[SourceFile]) -> list[str]:
    """Return the names of the files that have changed since the run began."""
    paths = [(file, Path(file.path)) for file in files]
    return [file.name for file, path in paths if path.is_file() and digest_of(path) != file.digest]
