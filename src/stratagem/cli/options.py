"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.engines.remote.hosts import named_by_file
from stratagem.errors import StratagemError
from stratagem.play.store import prepare, shards

Seed = Annotated[int, typer.Option(help="The seed from which every draw follows.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Record = Annotated[Path | None, typer.Option("--record", help="A folder for the episodes and decisions, as Parquet.")]
Out = Annotated[Path | None, typer.Option("--out", help="A file for the figures, as JSON.")]


def _only(context: typer.Context, hosts: list[str] | None) -> list[str] | None:
    """While the command runs, its file leads to no other servers."""
    context.with_resource(named_by_file(hosts or ()))
    return hosts


AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", callback=_only, help="A server that the recipe may name, as HOST or HOST:PORT. Repeatable."
    ),
]


def fresh(folder: Path | None) -> Path | None:
    """The folder to record to, made now; refused where it already holds a recording: ids would stand there twice."""
    if folder is None:
        return None
    if shards(folder):
        raise StratagemError(f"{folder} already holds recorded episodes: choose another folder.")
    prepare(folder)
    return folder
