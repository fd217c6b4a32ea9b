"""Games and players as a caller gives them: by name, in a file of the caller's, or as objects."""

from __future__ import annotations

from typing import Any, TypeAlias

from stratagem.base.consent.table import allow_named
from stratagem.games.base import Game
from stratagem.games.bounded import note_made
from stratagem.games.catalogue import make_game
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player

GameLike: TypeAlias = str | Game[Any]
"""A game, or its name with parameters: `kuhn`, `ipd(rounds=20)`, `mygame.py:Volunteer`."""
PlayerLike: TypeAlias = str | Player
"""A player, or its name: `TitForTat`, `mcts:100`, `run:PATH`."""


def as_game(given: GameLike) -> Game[Any]:
    """Return the game that a caller named or made."""
    allow_given(given)
    game = make_game(given)
    note_made(game)
    return game


def as_player(given: PlayerLike, game: Game[Any]) -> Player:
    """Return the player that a caller named or made."""
    allow_given(given)
    return make_player(given, game)


def allow_given(*given: object) -> None:
    """Allow what a caller names: Python files, commands of agents, and servers."""
    allow_named(text for text in given if isinstance(text, str))
