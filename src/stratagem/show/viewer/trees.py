"""Game trees of the pages, and an equilibrium on them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.measure.tree_policy import Floats, Oracle, oracle_of, policy_on
from stratagem.players.catalogue import make_player

EQUILIBRIUM = "cfr:1000"
"""Player of an equilibrium."""
_SOLVED = 30_000
"""Largest number of nodes of a tree that is solved while a page waits: some seconds."""


def oracle_of_game(game: Game[Any]) -> Oracle:
    """Return the oracle of a game, of one round where rounds know nothing of each other."""
    if game.spec.seats < 2:
        raise CannotCompute(f"{game.spec.name} has one seat, so nobody can exploit anybody in it.")
    return oracle_of(game)


@lru_cache(maxsize=8)
def equilibrium_of_game(game: Game[Any]) -> Floats:
    """Return an equilibrium of a two-player constant-sum game on its tree."""
    tree = oracle_of_game(game).tree
    player = make_player(EQUILIBRIUM, tree.game)
    if len(tree) > _SOLVED:
        raise CannotCompute(
            f"The tree of {tree.game.spec.name} has {len(tree):,} nodes, too many to be solved while a page waits."
        )
    return policy_on(tree, player)
