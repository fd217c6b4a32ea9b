"""`stratagem games`: the list of games, and the declaration of one."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.console import Text
from stratagem.api.games import GameCard
from stratagem.api.games import games as list_games
from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import print_grid, print_json, print_remarks


def games(
    name: Annotated[
        str | None, typer.Argument(help="Game, to print its rules and parameters.", autocompletion=completion.games)
    ] = None,
    json: options.Json = False,
) -> None:
    """List the games, or show one of them."""
    found = list_games() if name is None else list_games(name)
    if json:
        print_json(found.to_json())
        return
    for grid in found.grids():
        print_grid(grid)
    if isinstance(found, GameCard):
        _print_texts(found)
        return
    out.print()
    print_remarks(found)


def _print_texts(card: GameCard) -> None:
    for title, text in card.texts().items():
        out.print(Text(f"\n{title}", style="bold"))
        out.print(Text(text))
