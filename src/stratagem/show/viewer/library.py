"""Library of a folder: the records, runs and cards of audits in it, by their paths relative to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from stratagem.base.errors import BadParameter, BadRecord, UnknownName
from stratagem.playing.store import shards
from stratagem.training.runs.folder import RunFolder, check_shown_links

T = TypeVar("T")
_DEPTH = 5
"""Number of folders below the root in which is looked."""
_INNER = frozenset(
    {"episodes", "decisions", "calls", "timings", "prompts", "checkpoints", "base", "policies", "files", "wandb"}
)
"""Folders of a run or a record that hold no other."""
CARD = "card.html"
PAGES = (CARD, "report.html")
"""Pages that other commands write into an audit or a run."""


@dataclass(frozen=True)
class Library:
    """Content of a folder at one time. Only what was found in it can be asked for, so no name leads out of it."""

    root: Path
    records: dict[str, Path] = field(default_factory=dict)
    runs: dict[str, RunFolder] = field(default_factory=dict)
    pages: dict[str, Path] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """Runs and records with links out of their folders, each with a sentence; they are listed, and not read."""

    def record(self, name: str) -> Path:
        """Return the folder of a record."""
        return self._require_known("record", name, self.records)

    def run(self, name: str) -> RunFolder:
        """Return a run."""
        return self._require_known("run", name, self.runs)

    def page(self, name: str) -> Path:
        """Return the file of a page."""
        return self._require_known("page", name, self.pages)

    def _require_known(self, kind: str, name: str, known: dict[str, T]) -> T:
        if name in known:
            return known[name]
        if name in self.refused:
            raise BadRecord(self.refused[name])
        raise UnknownName(kind, name, known)

    @property
    def cards(self) -> dict[str, Path]:
        """Pages that are the cards of audits."""
        return {name: path for name, path in self.pages.items() if path.name == CARD}

    def records_in(self, folder: str) -> list[str]:
        """Return the names of the records in a folder, but for the folder of all."""
        return [name for name in self.records if folder and name.startswith(f"{folder}/")]

    def run_of(self, record: Path) -> RunFolder | None:
        """Return the run whose record this is."""
        return next((run for run in self.runs.values() if run.record == record), None)


def read_library(root: Path) -> Library:
    """Find all records, runs and pages in a folder, the folder itself included."""
    library = Library(root)
    for folder in _folders(root, _DEPTH):
        name = "." if folder == root else folder.relative_to(root).as_posix()
        try:
            if _is_shown(folder, bool(shards(folder))):
                library.records[name] = folder
            if _is_shown(folder, (folder / "run.json").is_file()):
                library.runs[name] = RunFolder(folder)
        except BadRecord as error:
            library.refused[name] = str(error)
        inside = [folder / page for page in PAGES if _is_inside(folder / page, root)]
        library.pages.update({page.relative_to(root).as_posix(): page for page in inside})
    return library


def _is_shown(folder: Path, is_there: bool) -> bool:
    """Return whether a folder is a run or a record; raise where its links lead out of it."""
    if is_there:
        check_shown_links(folder)
    return is_there


def open_library(root: Path) -> Library:
    """Read the library of a folder, or say in one sentence why it has nothing to show."""
    if not root.is_dir():
        raise BadParameter(f"There is no folder {str(root)!r}: name a run, a record, an audit or a folder of them.")
    library = read_library(root)
    if not (library.records or library.runs or library.pages):
        if library.refused:
            raise BadRecord(next(iter(library.refused.values())))
        raise BadParameter(
            f"There is nothing to show in {str(root)!r}: name a run, a record, an audit or a folder of them."
        )
    return library


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    """Yield a folder and those in it; links are not followed."""
    yield folder
    if depth:
        try:
            inside = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
        except OSError:
            return
        inner = _INNER if _is_whole(folder) else frozenset[str]()
        for name in inside:
            if name not in inner and not name.startswith("."):
                yield from _folders(folder / name, depth - 1)


def _is_whole(folder: Path) -> bool:
    """Return whether a folder is a run or a record, whose own folders have names of their own."""
    return (folder / "run.json").is_file() or (folder / "episodes").is_dir()


def _is_inside(path: Path, root: Path) -> bool:
    return path.is_file() and path.resolve().is_relative_to(root)
