"""Players of demonstrations: the demonstrators with their weights, and their opponents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stratagem.errors import BadParameter
from stratagem.games.base import Game
from stratagem.games.safety.base import Mixture, Pools
from stratagem.players.base import Player
from stratagem.players.pools import NOBODY, NONE, demonstrators, make_named, sft_opponents


class Cast(NamedTuple):
    """Names of the demonstrators with their weights, and of their opponents."""

    demonstrators: Mapping[str, float]
    opponents: tuple[str, ...]

    def make(self, game: Game[Any]) -> dict[str, Player]:
        """Make every player once, by name."""
        opponents = {name: make_named("The opponents of demonstrators", name, game) for name in self.opponents}
        return opponents | {name: make_named("The demonstrators", name, game) for name in self.demonstrators}


def cast_of(game: Game[Any], own: Mixture = NOBODY, own_pools: Pools = NONE) -> Cast:
    """Return the cast of a game: the demonstrators and pools that a recipe names, or else those of the game."""
    opponents = sft_opponents(game, own_pools)
    if not opponents:
        raise BadParameter(f"{game.spec.name} has no opponents for demonstrations: name players in its pools.")
    return Cast(demonstrators(game, own, own_pools), opponents)
