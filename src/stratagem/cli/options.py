"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(help="The seed from which every draw follows.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Record = Annotated[Path | None, typer.Option("--record", help="A folder for the episodes and decisions, as Parquet.")]
Out = Annotated[Path | None, typer.Option("--out", help="A file for the figures, as JSON.")]
