"""Permission for files of others: `allow_file` allows a Python file or a command that a record or a run names."""

from __future__ import annotations

from pathlib import Path

from stratagem import named_files
from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence

__all__ = ["allow_file"]


@one_sentence
def allow_file(file: str | Path) -> None:
    """Allow a Python file to be loaded, which runs it, or a command `cmd:...` of an agent to be run.

    Files and commands that a call itself names need no permission; those that only a record or a run names do.
    """
    as_path(file, "file")
    named_files.allow_file(file)
