"""`stratagem compare`: what changed between two audits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from stratagem.api.audits import compare_audits
from stratagem.cli import options
from stratagem.cli.console import out
from stratagem.cli.output import print_json


def compare(
    before: Annotated[Path, typer.Argument(help="Folder of the first audit, or its card.")],
    after: Annotated[Path, typer.Argument(help="Folder of the second audit, or its card.")],
    json: options.Json = False,
) -> None:
    """Compare two audits: the change of each figure, with limits that cover."""
    comparison = compare_audits(before, after)
    if json:
        print_json(comparison.to_json())
        return
    out.print(Text(repr(comparison)), soft_wrap=True)
    changed = [change.name for change in comparison.changes if change.changed]
    out.print(Text(f"Changed: {', '.join(changed)}." if changed else "No figure changed beyond its limits."))
