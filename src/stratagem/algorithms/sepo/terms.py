"""Penalties of SEPO that a game can have: each needs adversaries, or a safety signal."""

from __future__ import annotations

from typing import Any, Literal

from stratagem.games.base import Game
from stratagem.games.safety.base import Pools
from stratagem.games.safety.catalogue import signal_names
from stratagem.players.pools import pools

Source = Literal["pool", "best_response"]


def missing_terms(game: Game[Any], own: Pools, source: Source) -> dict[str, str]:
    """Return the penalties that cannot be measured in a game, each with the reason and a way out."""
    named, names = pools(game, own), signal_names(game)
    missing = {
        term: f"the game has no safety signal `{term}`" for term in ("collusion", "externality") if term not in names
    }
    if not named["collusive"].players:
        missing.setdefault("collusion", "its pool `collusive` is empty, so name players in `pools.collusive`")
    if source == "pool" and not named["exploit"].players:
        missing["exploit"] = (
            "its pool `exploit` is empty, so name players in `pools.exploit`, or set `sepo.penalty_source` to "
            "best_response"
        )
    return missing
