"""Games and players by name or as objects, wherever one is expected."""

from __future__ import annotations

from typing import Any

from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import AgentFunction, PlayerLike, as_player
from stratagem.base.errors import BadParameter
from stratagem.games.base import Game
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game

__all__ = ["AgentFunction", "GameLike", "PlayerLike", "game", "player"]


@one_sentence
def game(name: GameLike, **parameters: object) -> Game[Any]:
    """Make a game by its name: `sg.game("ipd", rounds=20)` is `sg.game("ipd(rounds=20)")`.

    A `Game` is returned as it is.

    Args:
        name: Game, by its name or as a `Game`.
        parameters: Parameters of the game.
    """
    if not parameters:
        return as_game(name)
    if not isinstance(name, str) or "(" in name:
        raise BadParameter("Parameters go with the bare name of a game, as in sg.game('ipd', rounds=20).")
    return as_game(f"{name}({', '.join(f'{option}={value!r}' for option, value in parameters.items())})")


@one_sentence
def player(name: PlayerLike, game: GameLike) -> Player:
    """Make a player by its name in a game: `sg.player("TitForTat", "ipd")`.

    A `Player` is returned as it is, if it can play the game. A function that answers questions becomes an agent.

    Args:
        name: Player, by its name, as a `Player` or as a function.
        game: Game that it plays.
    """
    return as_player(name, as_game(game))
