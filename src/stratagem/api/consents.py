"""Consent from Python: `allow` for a single thing, `trust` for a folder."""

from __future__ import annotations

from pathlib import Path

from stratagem.api.arguments import as_path
from stratagem.api.mistakes import one_sentence
from stratagem.base.consent import table
from stratagem.base.consent.trusted import forget_folder, trust_folder, trusted_folders
from stratagem.base.errors import WrongKind

__all__ = ["allow", "forget", "list_trusted", "trust"]


@one_sentence
def allow(*things: str | Path) -> None:
    """Allow single things for the rest of the program, whoever names them.

    What a call itself names needs no permission; what only a recipe, a record or a run names does.

    Args:
        things: Python file to run, command `cmd:...` of an agent, server as HOST or HOST:PORT, or file to read.
    """
    for thing in things:
        if not isinstance(thing, str | Path):
            raise WrongKind("permission", "a path, a command `cmd:...`, or a host", thing)
    table.allow(*things)


@one_sentence
def trust(folder: str | Path) -> Path:
    """Trust a folder, now and later: what its recipes, records and files name is allowed without a question.

    Args:
        folder: Folder to trust.
    """
    return trust_folder(as_path(folder, "folder"))


@one_sentence
def forget(folder: str | Path) -> Path:
    """Trust a folder no more.

    Args:
        folder: Folder that is trusted no more.
    """
    return forget_folder(as_path(folder, "folder"))


@one_sentence
def list_trusted() -> list[Path]:
    """List the trusted folders."""
    return trusted_folders()
