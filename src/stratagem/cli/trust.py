"""`stratagem trust`: the folders whose recipes and records may run programs, by `sg.trust` and `sg.forget`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stratagem.api.consents import forget, list_trusted, trust
from stratagem.base.errors import BadParameter
from stratagem.cli.console import out
from stratagem.cli.output import print_json
from stratagem.cli.parameters import JsonOption


def trust_folders(
    folder: Annotated[Path | None, typer.Argument(help="Folder to trust, such as `.`.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the trusted folders.")] = False,
    forgotten: Annotated[Path | None, typer.Option("--forget", help="Folder that is trusted no more.")] = None,
    json: JsonOption = False,
) -> None:
    """Trust a folder: its recipes and records may run files and commands, contact servers and read, unasked."""
    if (folder is not None) + listed + (forgotten is not None) != 1:
        raise BadParameter("Say one of `stratagem trust FOLDER`, --list and --forget FOLDER.")
    if folder is not None:
        trust(folder)
    if forgotten is not None:
        forget(forgotten)
    folders = list(map(str, list_trusted()))
    if json:
        print_json({"trusted": folders})
        return
    out.print("Trusted folders:" if folders else "No folder is trusted.", markup=False, highlight=False)
    for name in folders:
        out.print(f"  {name}", markup=False, highlight=False)
