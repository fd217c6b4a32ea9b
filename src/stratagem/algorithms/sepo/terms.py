"""Penalties of SEPO that a game can have: each needs adversaries, or a safety signal."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from stratagem.games.base import Game
from stratagem.games.key import Key
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
    if not states_something(game):
        missing["deception"] = "its messages state nothing about the state that a speaker knows to be true or false"
    if source == "pool" and not named["exploit"].players:
        missing["exploit"] = (
            "its pool `exploit` is empty, so name players in `pools.exploit`, or set `sepo.penalty_source` to "
            "best_response"
        )
    return missing


@lru_cache(maxsize=1024)
def states_something(game: Game[Any]) -> bool:
    """Return whether a seat can make a statement about the state before the first move."""
    state = game.start(Key(0))
    speakers = [view for view in map(state.view, state.to_act) if game.silence(view.facts) is not None]
    return any(game.claim(view.facts, line) is not None for view in speakers for line in view.choices)
