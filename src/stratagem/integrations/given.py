"""Games and players as a caller gives them to an environment: by name, in a file, or as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from stratagem.errors import BadParameter, WrongKind
from stratagem.games.base import Game, Seat
from stratagem.games.catalogue import make_game
from stratagem.named_files import name_files
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player

GameLike: TypeAlias = str | Game[Any]
Opponents: TypeAlias = Mapping[Seat, str | Player]
"""Players of ours by seat."""


def game_of(given: GameLike) -> Game[Any]:
    """Return the game that a caller named or made; a file of the caller's may be loaded."""
    if isinstance(given, str):
        name_files((given,))
    return make_game(given)


def player_of(given: str | Player, game: Game[Any]) -> Player:
    """Return the player that a caller named or made."""
    if isinstance(given, str):
        name_files((given,))
    return make_player(given, game)


def opponents_of(given: Opponents | None, game: Game[Any]) -> dict[Seat, Player]:
    """Return the players of the seats that have one; a seat is left to an agent at least."""
    if given is not None and not isinstance(given, Mapping):
        raise WrongKind("set of opponents", 'a mapping from seats to players, as in {1: "random"}', given)
    players = dict(given or {})
    seats = range(game.spec.seats)
    if strange := [seat for seat in players if type(seat) is not int or seat not in seats]:
        raise BadParameter(f"{game.spec.name} has no seat {strange[0]!r}: its seats are {', '.join(map(str, seats))}.")
    if len(players) == len(seats):
        raise BadParameter(f"Every seat of {game.spec.name} has a player: leave one to an agent.")
    return {seat: player_of(player, game) for seat, player in players.items()}
