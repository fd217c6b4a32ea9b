"""Players: `list_players` lists those of one game or of all, with their rules, their traits and their pools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import describe, make_game
from stratagem.players.catalogue import make_player, patterns, player_names
from stratagem.players.given import GameLike, as_game
from stratagem.players.patterns import PATTERNS
from stratagem.players.pools import pools
from stratagem.show.table import ResultTable, text_table

EXAMPLES = ("ipd", "auction", "negotiation-v1", "negotiation-v2", "kuhn")
"""One game of each family that has players of its own."""

__all__ = ["Players", "list_players"]


@dataclass(frozen=True, repr=False)
class Players(Result):
    """Players of games. It has no figures, so there is no picture."""

    rosters: dict[str, list[Json]]
    """Declarations of the players, by game."""
    pools: dict[str, tuple[str, ...]]
    """Names of the players of each pool, where one game was asked for."""
    patterns: tuple[str, ...]
    """Names with a part of your own, as in `mcts:100`."""

    def rows(self) -> list[Json]:
        """Return one row for each player of each game."""
        return [{"game": game, **item} for game, cards in self.rosters.items() for item in cards]

    def to_json(self) -> dict[str, list[Json]]:
        """Return the declarations by game, as `stratagem players --json` prints them."""
        return dict(self.rosters)

    def tables(self) -> list[ResultTable]:
        columns = ("player", "memory", "stochastic", "pools", "rule")
        return [
            text_table(f"Players of {game}", columns, list(map(_row, cards))) for game, cards in self.rosters.items()
        ]

    def remarks(self) -> list[str]:
        """Return the pools, and the names beyond the list."""
        members = [f"Pool {name}: {', '.join(some) or 'empty'}." for name, some in self.pools.items()]
        known = "" if self.pools else ", if the game permits"
        return [*members, f"Also{known}: {', '.join(self.patterns)}."]


@one_sentence
def list_players(game: GameLike | None = None) -> Players:
    """List the players: rule, memory, whether they are stochastic, and pools.

    Args:
        game: Game, for its players alone; without one those of a game of each family.
    """
    if game is None:
        return Players({name: roster(make_game(name)) for name in EXAMPLES}, {}, tuple(PATTERNS))
    made = as_game(game)
    members = {pool.name: tuple(pool.players) for pool in pools(made).values()}
    text = game if isinstance(game, str) else describe(made)
    return Players({text: roster(made)}, members, tuple(patterns(made)))


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


def _row(item: Json) -> tuple[str, ...]:
    memory = "all rounds" if item["memory"] is None else str(item["memory"])
    return item["name"], memory, "yes" if item["stochastic"] else "no", ", ".join(item["pools"]), item["rule"]
