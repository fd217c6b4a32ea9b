"""`stratagem games`: the list of games, and the declaration of one."""

from __future__ import annotations

from typing import Annotated

import typer

from stratagem.api.games import GameCard
from stratagem.api.games import games as list_games
from stratagem.cli import completion, options
from stratagem.cli.console import out
from stratagem.cli.output import print_result, print_table
from stratagem.show.console import Text


def games(
    name: Annotated[
        str | None, typer.Argument(help="Game, to print its rules and parameters.", autocompletion=completion.games)
    ] = None,
    json: options.Json = False,
) -> None:
    """List the games, or show one of them."""
    found = list_games() if name is None else list_games(name)
    if json or not isinstance(found, GameCard):
        print_result(found, json=json)
        return
    for table in found.tables():
        print_table(table)
    _print_texts(found)


def _print_texts(card: GameCard) -> None:
    for title, text in card.texts().items():
        out.print(Text(f"\n{title}", style="bold"))
        out.print(Text(text))
