"""Players as a caller gives them: by name, as objects, as runs, or as functions that answer questions of an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from stratagem.api.arguments import several
from stratagem.games.base import Game
from stratagem.players import given as named
from stratagem.players.agents import agent_player
from stratagem.players.base import Player

AgentFunction: TypeAlias = Callable[[dict[str, Any]], Any]
"""A function from the question of an agent to its action."""


@runtime_checkable
class NamesPlayer(Protocol):
    """Object with the name of a player, such as a run."""

    @property
    def player(self) -> str: ...


PlayerLike: TypeAlias = str | Player | AgentFunction | NamesPlayer
"""A player, its name (`TitForTat`, `mcts:100`, `run:PATH`), a run, or a function."""

__all__ = ["AgentFunction", "NamesPlayer", "PlayerLike", "as_player", "as_player_or_name", "players_of"]


def as_player_or_name(given: PlayerLike) -> str | Player:
    """Return a player as it was given, or the name of a run's best model; a function becomes an agent."""
    if isinstance(given, str | Player | type):
        return cast("str | Player", given)  # a class is refused where its game is known, and so is all below
    if callable(given):
        return agent_player(given)
    return given.player if isinstance(given, NamesPlayer) and isinstance(given.player, str) else cast("Player", given)


def as_player(given: PlayerLike, game: Game[Any]) -> Player:
    """Return the player of a game that a caller named, made or wrote as a function."""
    return named.as_player(as_player_or_name(given), game)


def players_of(given: object, *, least: int = 1) -> list[str | Player]:
    """Return the players that a caller gave as one thing or as a sequence."""
    return [as_player_or_name(one) for one in several(given, least=least)]
