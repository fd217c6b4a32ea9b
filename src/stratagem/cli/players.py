"""`stratagem players`: the list of players."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.players import players as list_players
from stratagem.cli import completion, options
from stratagem.cli.output import print_result


def players(
    game: Annotated[
        str | None, typer.Argument(help="Game, to list only its players.", autocompletion=completion.games)
    ] = None,
    json: options.Json = False,
) -> None:
    """List the players: rule, memory, whether they are stochastic, and pools."""
    found = list_players(game)
    print_result(found, json=json)
