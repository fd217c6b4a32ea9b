"""Default opponents of a game that names none: random play, the first legal action, and search where it is possible."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Game
from stratagem.games.safety.base import Pools
from stratagem.players.tree_search import searchable


def default_pools(game: Game[Any]) -> Pools:
    """Return the default pools; without search there is no adversary, and nobody invites to collude."""
    search = search_of(game)
    return {
        "train": ("random", "first-legal", *([f"{search}:10"] if search else [])),
        "exploit": (f"{search}:100",) if search else (),
        "collusive": (),
        "shifted": ("noise(first-legal, p=0.2)", *([f"{search}:30"] if search else [])),
    }


def search_of(game: Game[Any]) -> str:
    """Return the search that plays a game without a look at what is hidden; empty where there is none."""
    if game.spec.perfect_information:
        return "mcts" if searchable(game) else ""
    return "ismcts" if searchable(game, hidden=True) else ""
