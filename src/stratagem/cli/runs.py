"""`stratagem runs`: the runs in a folder, with their status and newest figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.run_lists import runs as list_runs
from stratagem.api.trainings import RUNS
from stratagem.cli import options
from stratagem.cli.console import errors
from stratagem.cli.output import print_result


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of the runs.")] = RUNS, json: options.Json = False
) -> None:
    """List the runs in a folder with their status and newest figures."""
    found = list_runs(folder)
    print_result(found, json=json)
    for sentence in found.damaged if not json else ():
        errors.print(sentence, highlight=False, markup=False)
