"""`stratagem players`: the list of players."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from stratagem.cli import completion
from stratagem.cli.console import out
from stratagem.cli.output import print_json, table
from stratagem.errors import BadParameter, StratagemError
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import make_game
from stratagem.players.catalogue import PATTERNS, make_player, patterns, player_names
from stratagem.players.pools import pools

EXAMPLES = ("ipd", "auction", "negotiation-v1", "negotiation-v2", "kuhn")
"""One game of each family that has players of its own."""


def players(
    game: Annotated[
        str | None, typer.Argument(help="Game, to list only its players.", autocompletion=completion.games)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the players: rule, memory, whether they are stochastic, and pools."""
    names = EXAMPLES if game is None else (game,)
    rosters = {name: roster(make_game(name)) for name in names}
    if json:
        print_json(rosters)
        return
    for name, cards in rosters.items():
        out.print(_table(name, cards))
        out.print()
    if game is not None:
        out.print(_pools(make_game(game)), highlight=False, markup=False)
    others = PATTERNS if game is None else patterns(make_game(game))
    out.print(f"Also{', if the game permits' * (game is None)}: {', '.join(others)}.", highlight=False, markup=False)


def _pools(game: Game[Any]) -> str:
    """Return the pools of a game, a line each."""
    return "\n".join(f"Pool {pool.name}: {', '.join(pool.players) or 'empty'}." for pool in pools(game).values())


def roster(game: Game[Any]) -> list[Json]:
    """Return the declaration of each player of a game; players that cannot play it with their defaults are left out."""
    cards, by_name = [], pools(game)
    for name in player_names(game):
        try:
            player = make_player(name, game)
        except StratagemError:
            continue
        traits = player.traits
        member = [pool.name for pool in by_name.values() if name in pool.players]
        rule = next(iter((type(player).__doc__ or "").strip().splitlines()), "")
        item = {"name": name, "version": traits.version, "rule": rule, "stochastic": traits.stochastic}
        cards.append(item | {"memory": traits.memory, "sees_hidden": traits.sees_hidden, "pools": member})
    if not cards:
        raise BadParameter(f"No player can play {game.spec.name}.")
    return cards


def _table(game: str, cards: list[Json]) -> object:
    grid = table(f"Players of {game}", "player", "memory", "stochastic", "pools", "rule", numbers=False)
    for item in cards:
        memory = "all rounds" if item["memory"] is None else str(item["memory"])
        stochastic = "yes" if item["stochastic"] else "no"
        grid.add_row(Text(item["name"]), memory, stochastic, ", ".join(item["pools"]), Text(item["rule"]))
    return grid
