"""Notes and tags of runs: a small file in the folder of a run, which only the viewer writes and nothing else reads."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field

from stratagem.base.errors import StratagemError
from stratagem.base.files import parse_json, read_small, write_file
from stratagem.base.settings import FiniteSettings
from stratagem.games.base import Json
from stratagem.show.viewer.studio import Visit
from stratagem.training.runs.folder import RunFolder, own_file

FILE = "view.json"
_NOTE, _TAG, _MOST_TAGS = 4000, 40, 12


class Note(FiniteSettings):
    """Note and tags of a run, as people wrote them."""

    note: str = Field(default="", max_length=_NOTE)
    """Note in plain text."""
    tags: tuple[str, ...] = Field(default=(), max_length=_MOST_TAGS)
    """Words by which runs can be found."""


class AskedNote(Note):
    """Run, and what is to be noted about it."""

    run: str
    """Name of the run."""


def note_of(run: RunFolder) -> Note:
    """Return the note of a run; empty where there is none, or where its file cannot be read."""
    try:
        return Note.read(parse_json(read_small(run.path / FILE)), FILE)
    except (OSError, ValueError, TypeError, StratagemError):
        return Note()


def write_note(visit: Visit, body: Json) -> Json:
    """Write the note of a run, or remove its file where nothing is noted; return what is noted now."""
    asked = AskedNote.read(body)
    run = visit.library.run(asked.run)
    words = (" ".join(tag.split())[:_TAG] for tag in asked.tags)
    note = Note(note=asked.note.strip(), tags=tuple(dict.fromkeys(filter(None, words))))
    _save(run.path / FILE, note)
    return note.model_dump(mode="json")


def _save(path: Path, note: Note) -> None:
    if note == Note():
        path.unlink(missing_ok=True)
    else:
        write_file(own_file(path), json.dumps(note.model_dump(mode="json"), indent=1) + "\n")
