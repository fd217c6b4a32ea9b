"""`stratagem compare`: what changed between two audits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.audits import compare_audits
from stratagem.cli import options
from stratagem.cli.output import print_result


def compare(
    before: Annotated[Path, typer.Argument(help="Folder of the first audit, or its card.")],
    after: Annotated[Path, typer.Argument(help="Folder of the second audit, or its card.")],
    json: options.Json = False,
) -> None:
    """Compare two audits: the change of each figure, with limits that cover."""
    print_result(compare_audits(before, after), json=json)
