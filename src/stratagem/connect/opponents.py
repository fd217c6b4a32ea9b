"""Opponents of an environment: players of ours by seat, by name or as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from stratagem.base.errors import BadParameter, WrongKind
from stratagem.games.base import Game, Seat
from stratagem.players.base import Player
from stratagem.players.given import PlayerLike, as_player

Opponents: TypeAlias = Mapping[Seat, PlayerLike]
"""Players of ours by seat."""


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
    return {seat: as_player(player, game) for seat, player in players.items()}
