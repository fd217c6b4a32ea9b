"""Game trees of the pages, and an equilibrium on them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game
from stratagem.games.regret_solver import Floats, TreeSolver
from stratagem.games.tree_walk import QUICK
from stratagem.measure.tree_policy import Oracle, oracle_of
from stratagem.players.equilibrium import check_solvable

EQUILIBRIUM = "cfr:1000"
"""Player of an equilibrium."""
_ITERATIONS = 1000
"""Iterations of CFR+: 1.3 s in liar's dice, the largest tree of a game of ours."""


def oracle_of_game(game: Game[Any]) -> Oracle:
    """Return the oracle of a game, of one round where rounds know nothing of each other."""
    if game.spec.seats < 2:
        raise CannotCompute(f"{game.spec.name} has one seat, so nobody can exploit anybody in it.")
    return oracle_of(game, QUICK, least=QUICK)


@lru_cache(maxsize=8)
def equilibrium_of_game(game: Game[Any]) -> Floats:
    """Return an equilibrium of a two-player constant-sum game on its tree."""
    check_solvable(game)
    solver = TreeSolver(oracle_of_game(game).tree)
    solver.iterate(_ITERATIONS)
    return solver.average()
