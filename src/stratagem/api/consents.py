"""Consent from Python: `allow` for a single thing, `trust` for a folder."""

from __future__ import annotations

from pathlib import Path

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.consent import table
from stratagem.consent.trusted import forget_folder, trust_folder, trusted_folders
from stratagem.errors import WrongKind

__all__ = ["allow", "forget", "trust", "trusted"]


@one_sentence
def allow(*things: str | Path) -> None:
    """Allow single things for the rest of the program, whoever names them.

    A thing is a Python file to run, a command `cmd:...` of an agent, a server as HOST or HOST:PORT, or a file to read.
    What a call itself names needs no permission; what only a recipe, a record or a run names does.
    """
    for thing in things:
        if not isinstance(thing, str | Path):
            raise WrongKind("permission", "a path, a command `cmd:...`, or a host", thing)
    table.allow(*things)


@one_sentence
def trust(folder: str | Path) -> Path:
    """Trust a folder, now and later: what its recipes, records and files name is allowed without a question."""
    return trust_folder(as_path(folder, "folder"))


@one_sentence
def forget(folder: str | Path) -> Path:
    """Trust a folder no more."""
    return forget_folder(as_path(folder, "folder"))


@one_sentence
def trusted() -> list[Path]:
    """Return the trusted folders."""
    return trusted_folders()
