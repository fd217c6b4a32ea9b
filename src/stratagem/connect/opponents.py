"""Opponents of an environment: players of ours by seat, by name or as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from stratagem.base.errors import BadParameter, WrongKind
from stratagem.connect.session import match_of
from stratagem.games.base import Game, Seat
from stratagem.players.base import Player
from stratagem.players.given import PlayerLike, as_player
from stratagem.playing.match import Match

Opponents: TypeAlias = Mapping[Seat, PlayerLike]
"""Players of ours by seat."""
Others: TypeAlias = PlayerLike | Sequence[PlayerLike]
"""Opponents around one seat: one player for all other seats, or one for each."""


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


def match_at_seat(game: Game[Any], opponents: Others, seat: Seat) -> Match:
    """Return a match in which one seat is an external agent's, and opponents have the others."""
    others = [other for other in range(game.spec.seats) if other != seat]
    if type(seat) is not int or len(others) == game.spec.seats:
        raise BadParameter(f"{game.spec.name} has the seats 0 to {game.spec.seats - 1}, and not {seat!r}.")
    players = _list_players(opponents, len(others))
    if len(players) != len(others):
        raise BadParameter(
            f"{game.spec.name} has {len(others)} other seats, and there are {len(players)} opponents: give one player "
            "for all of these seats, or one for each."
        )
    return match_of(game, opponents_of(dict(zip(others, players, strict=True)), game))


def _list_players(opponents: Others, seats: int) -> list[PlayerLike]:
    """Return a player for each of some seats, as far as there are players."""
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return [opponents] * seats
    return list(opponents)
