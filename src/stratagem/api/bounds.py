"""Lower bounds on exploitability: the measurement that the settings of an evaluation ask for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from stratagem.errors import BadParameter
from stratagem.evaluation.exploitability.lower_bound import Bound, exploiter_of, player_bound, search_bound
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.players.base import Player
from stratagem.players.catalogue import named

METHODS = ("search", "learning")
"""Exploiters that are made for the agent; any other name is that of a player."""


def bound_of(budget: int | None, by: str | Player | None, deals: int, games: Sequence[str | Game[Any]]) -> Bound | None:
    """Return the measurement that the options ask for; None where they ask for none, refused where they cannot be."""
    if isinstance(by, str) and by.strip().casefold() in METHODS:
        by = by.strip().casefold()
    if by is not None and by not in METHODS:
        if budget is not None:
            raise BadParameter(f"`exploit_budget=` is for {' and '.join(METHODS)}; {named(by)} has its own.")
        for game in games:
            exploiter_of(by, make_bounded_game(game))
        return partial(player_bound, exploiter=by, deals=deals)
    if budget is None:
        if by is not None:
            raise BadParameter(f"`exploit_by={by!r}` needs `exploit_budget=`, such as 100.")
        return None
    if by == "learning":
        from stratagem.evaluation.exploitability.learn import learned_bound

        return partial(learned_bound, budget=budget, deals=deals)
    return partial(search_bound, budget=budget, deals=deals)
