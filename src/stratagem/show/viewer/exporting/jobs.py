"""Exports that a page asks for: written in the process of a job into the cache folder, and fetched from there once."""

from __future__ import annotations

import re
import secrets
import shutil
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from stratagem.base.cache import cache_folder
from stratagem.base.errors import UnknownName
from stratagem.show.viewer.exporting.page import write_snapshot
from stratagem.show.viewer.exporting.snapshot import RecordSnapshot
from stratagem.show.viewer.jobs import Progress
from stratagem.show.viewer.library import read_library

MOST_EXPORTS = 8
"""Number of exports that are kept until they are fetched."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60


@dataclass(frozen=True, kw_only=True)
class Export:
    """Record of a folder, or one episode of it, as one file."""

    root: Path
    record: str
    episode: str = ""
    """Id of the only episode; all of the record without it."""
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def title(self) -> str:
        """Title of the page."""
        return " ".join(filter(None, (self.root.name, self.record.strip("."), self.episode)))


def ask_export(question: Export, connection: Connection) -> Any:
    """Write the file, in the process of a job, and return its id and its size."""
    snapshot = RecordSnapshot(
        read_library(question.root),
        question.record,
        question.episode,
        lambda done, total: connection.send(Progress(done, total)),
    )
    name = _UNSAFE.sub("-", question.title).strip("-.")[-_LONGEST:].strip("-.") or "replay"
    file = _folder() / question.id / f"{name}.html"
    _forget()
    file.parent.mkdir(parents=True)
    write_snapshot(snapshot, file, question.title)
    return {"id": question.id, "bytes": file.stat().st_size, "episodes": snapshot.num_episodes}


def exported_file(name: str) -> Path:
    """Return the file of an export."""
    file = next(iter((_folder() / name).glob("*.html")), None) if re.fullmatch("[0-9a-f]{16}", name) else None
    if file is None:
        raise UnknownName("export", name[:40], ())
    return file


def _forget() -> None:
    """Delete the oldest exports."""
    folders = sorted(_folder().glob("*/"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[MOST_EXPORTS - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    return cache_folder() / "view-exports"
