"""Lower bounds on exploitability: the measurement that the settings of an evaluation ask for."""

from __future__ import annotations

from functools import partial

from stratagem.errors import BadParameter
from stratagem.evaluation.lower_bound import Bound, player_bound, search_bound
from stratagem.options import whole
from stratagem.players.base import Player

METHODS = ("search", "learning")
"""Exploiters that are made for the agent; any other name is that of a player."""


def bound_of(budget: int | None, by: str | Player | None, deals: int) -> Bound | None:
    """Return the measurement that the options ask for; None where they ask for none."""
    whole("eval", "--exploit-deals", deals, 2)
    if by is not None and by not in METHODS:
        if budget is not None:
            raise BadParameter(f"--exploit-budget is for {' and '.join(METHODS)}; {by} has its own.")
        return partial(player_bound, exploiter=by, deals=deals)
    if budget is None:
        if by is not None:
            raise BadParameter(f"--exploit-by {by} needs --exploit-budget, such as 100.")
        return None
    whole("eval", "--exploit-budget", budget, 1)
    if by == "learning":
        from stratagem.algorithms.tabular_exploiter import learned_bound

        return partial(learned_bound, budget=budget, deals=deals)
    return partial(search_bound, budget=budget, deals=deals)
