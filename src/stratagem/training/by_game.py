"""Settings of a recipe that may differ from game to game: a table, with tables in it that are one game's each."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator

from stratagem.base.errors import BadParameter
from stratagem.base.options import is_number
from stratagem.games.base import Game
from stratagem.games.conformance import RULES, verify
from stratagem.games.safety.base import POOLS, Mixture, Pools
from stratagem.games.talk import without_talk
from stratagem.learn.monitor import TrainingWarning
from stratagem.players.pools import check_weights

PoolTable = dict[str, tuple[str, ...] | dict[str, tuple[str, ...]]]
MixtureTable = dict[str, float | dict[str, float]]


def _known_pools(table: Any) -> Any:
    """Refuse pools that do not exist, and what is no list of names."""
    for entries in _tables(table):
        for pool, names in entries.items():
            if pool not in POOLS:
                raise ValueError(
                    f"there is no pool {pool}: the pools are {', '.join(POOLS)}, and a table is one game's"
                )
            if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
                raise ValueError(f'the pool {pool} must be a list of names of players, as {pool} = ["random"]')
    return table


def _weighable(table: Any) -> Any:
    """Refuse weights by which nobody can be drawn."""
    for weights in filter(None, _tables(table)):
        if strange := [name for name, weight in weights.items() if not is_number(weight)]:
            raise ValueError(f"the weight of {strange[0]} must be a number, as {{ {strange[0]} = 1 }}")
        try:
            check_weights(weights, "the demonstrators")
        except BadParameter as error:
            raise ValueError(str(error)) from error
    return table


def _tables(table: Any) -> list[Mapping[str, Any]]:
    """Return the entries of all games, and then the tables of single ones; nothing of what is no table at all."""
    if not isinstance(table, Mapping):
        return []
    common, own = _split(table)
    return [common, *own.values()]


NamedPools = Annotated[PoolTable, BeforeValidator(_known_pools)]
"""Names of players by pool, or by game and pool."""
NamedDemonstrators = Annotated[MixtureTable, BeforeValidator(_weighable)]
"""Weights of players by name, or by game and name."""


def _split(table: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Mapping[str, Any]]]:
    """Return the entries of all games, and the tables of single ones."""
    own = {name: value for name, value in table.items() if isinstance(value, Mapping)}
    return {name: value for name, value in table.items() if name not in own}, own


def pools_of(table: PoolTable, game: Game[Any]) -> Pools:
    """Return the pools of one game: its own over those of all games."""
    common, own = _split(table)
    return {**common, **own.get(game.figure_name, {})}


def demonstrators_of(table: MixtureTable, game: Game[Any]) -> Mixture:
    """Return the demonstrators of one game: its own table, or that of all games."""
    common, own = _split(table)
    return own.get(game.figure_name, common)


def check_games_of(setting: str, table: Mapping[str, Any], games: Sequence[Game[Any]]) -> None:
    """Refuse a table of a game that the recipe does not have."""
    names = [game.figure_name for game in games]
    if unknown := [name for name in _split(table)[1] if name not in names]:
        raise BadParameter(
            f"`{setting}.{unknown[0]}` is of no game of this recipe, whose games are {', '.join(names)}."
        )


_EPISODES = 3
"""Number of episodes of each check of a game before training: a fraction of a second in a small game."""
FIRST_CHECKS, SECONDS_OF_FIRST = 4, 0.5
"""Number of checks that a large game has alone, and the seconds that make it one: chess would take half a minute."""
PACKAGE = __name__.partition(".")[0]
"""Name of this package, whose tests show that its games keep the rules."""


def warn_of_broken_rules(games: Sequence[Game[Any]]) -> None:
    """Warn of the rules for games that games of users break; those of this package keep them, as its tests show."""
    for game in games:
        if type(without_talk(game)).__module__.partition(".")[0] == PACKAGE:
            continue
        start = time.monotonic()
        report = verify(game, episodes=_EPISODES, rules=RULES[:FIRST_CHECKS])
        if report.ok and time.monotonic() - start < SECONDS_OF_FIRST:
            report = verify(game, episodes=_EPISODES, rules=RULES[FIRST_CHECKS:])
        failed = [check for check in report.checks if check.outcome == "failed"]
        if failed:
            said = "; ".join(f"{check.name}: {check.detail}" for check in failed)
            sentence = f"{game.spec.name} breaks rules for games, so what is learnt in it may be wrong: {said}."
            warnings.warn(f"{sentence} `stratagem verify-game` shows the episodes.", TrainingWarning, stacklevel=2)


def check_names(games: Sequence[Game[Any]], remedy: str = "leave one out") -> None:
    """Refuse two games of one name, and a name with a space or a slash: figures and files have the name of the game."""
    if unfit := [game.spec.name for game in games if not game.spec.names_figures]:
        raise BadParameter(
            f"The game {unfit[0]!r} cannot be trained in, since its figures are named by it: give its spec a `name` "
            "without spaces and slashes."
        )
    counted = Counter(game.figure_name for game in games)
    if twice := [name for name, count in counted.items() if count > 1]:
        raise BadParameter(
            f"{counted[twice[0]]} of the `games` are {twice[0]}, and their figures would have one name: {remedy}."
        )
