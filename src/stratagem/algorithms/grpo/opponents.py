"""Mixture of opponents: one is drawn for each group, and plays all other seats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratagem.algorithms.grpo.collector import Lineup
from stratagem.algorithms.grpo.settings import SELF
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player


class OpponentMixture:
    """Players by name with their shares; `self` is the agent itself, so that all seats are trained."""

    def __init__(self, shares: Mapping[str, float], game: Game[Any], agent: Player) -> None:
        others, total = game.spec.seats - 1, sum(shares.values())
        self._lineups = []
        for name in shares:
            player = agent if name == SELF else make_player(name, game)
            self._lineups.append(Lineup((name,) * others, (player,) * others, self_play=name == SELF))
        self._shares = [share / total for share in shares.values()]

    def draw(self, key: Key) -> Lineup:
        """Draw one player for all other seats."""
        return self._lineups[key.choose(self._shares)]
