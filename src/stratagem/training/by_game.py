"""Settings of a recipe that may differ from game to game: a table, with tables in it that are one game's each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator

from stratagem.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.safety.base import POOLS, Mixture, Pools
from stratagem.players.pools import check_weights

PoolTable = Mapping[str, tuple[str, ...] | Pools]
MixtureTable = Mapping[str, float | Mixture]


def _known_pools(table: PoolTable) -> PoolTable:
    """Refuse pools that do not exist."""
    named = {name for name, value in table.items() if not isinstance(value, Mapping)}
    named |= {name for value in table.values() if isinstance(value, Mapping) for name in value}
    if unknown := sorted(named - set(POOLS)):
        raise ValueError(f"there is no pool {unknown[0]}: the pools are {', '.join(POOLS)}, and a table is one game's")
    return table


def _weighable(table: MixtureTable) -> MixtureTable:
    """Refuse weights by which nobody can be drawn."""
    common, own = _split(table)
    for weights in [common] * bool(common) + list(own.values()):
        try:
            check_weights(weights, "demonstrators")
        except BadParameter as error:
            raise ValueError(str(error)) from error
    return table


NamedPools = Annotated[PoolTable, AfterValidator(_known_pools)]
"""Names of players by pool, or by game and pool."""
NamedDemonstrators = Annotated[MixtureTable, AfterValidator(_weighable)]
"""Weights of players by name, or by game and name."""


def _split(table: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
    """Return the entries of all games, and the tables of single ones."""
    own = {name: value for name, value in table.items() if isinstance(value, Mapping)}
    return {name: value for name, value in table.items() if name not in own}, own


def pools_of(table: PoolTable, game: Game[Any]) -> Pools:
    """Return the pools of one game: its own over those of all games."""
    common, own = _split(table)
    return {**common, **own.get(game.spec.name, {})}


def demonstrators_of(table: MixtureTable, game: Game[Any]) -> Mixture:
    """Return the demonstrators of one game: its own table, or that of all games."""
    common, own = _split(table)
    return own.get(game.spec.name, common)


def check_games_of(setting: str, table: Mapping[str, Any], games: Sequence[Game[Any]]) -> None:
    """Refuse a table of a game that the recipe does not have."""
    names = [game.spec.name for game in games]
    if unknown := [name for name in _split(table)[1] if name not in names]:
        raise BadParameter(
            f"`{setting}.{unknown[0]}` is of no game of this recipe, whose games are {', '.join(names)}."
        )
