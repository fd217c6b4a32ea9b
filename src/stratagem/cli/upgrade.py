"""`stratagem upgrade`: the files of a run with the keys and the format of this release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.upgrades import upgrade as upgrade_run
from stratagem.cli import options
from stratagem.cli.output import print_result


def upgrade(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run of an earlier release.")],
    json: options.Json = False,
) -> None:
    """Write the settings of a run of an earlier release under the names of this one, and keep the old files."""
    print_result(upgrade_run(folder), json=json)
