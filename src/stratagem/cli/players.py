"""`stratagem players`: the list of players."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.players import players as list_players
from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import print_grid, print_json, print_remarks


def players(
    game: Annotated[
        str | None, typer.Argument(help="Game, to list only its players.", autocompletion=completion.games)
    ] = None,
    json: options.Json = False,
) -> None:
    """List the players: rule, memory, whether they are stochastic, and pools."""
    found = list_players(game)
    if json:
        print_json(found.to_json())
        return
    for grid in found.grids():
        print_grid(grid)
        out.print()
    print_remarks(found)
