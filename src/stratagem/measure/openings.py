"""Policy of a player in the first situations of a game: all of them in a small game, the first moves of a large one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stratagem.games.base import Game, State, View
from stratagem.games.enumeration import dump_of, starts, successors, walk_positions
from stratagem.measure.policies import stated_policies
from stratagem.players.base import Player

LIMIT = 64
"""Largest number of information sets to report."""


def opening_policy(game: Game[Any], player: Player, limit: int = LIMIT) -> dict[str, dict[str, float]]:
    """Return the probabilities that a player states, by information set; `CannotCompute` where it states none."""
    views = opening_views(game, limit)
    mixes = stated_policies(player, list(views.values()))
    return {
        key: {action: p for action, p in mix.items() if action is not None}
        for key, mix in zip(views, mixes, strict=True)
    }


def opening_views(game: Game[Any], limit: int = LIMIT) -> dict[str, View[Any]]:
    """Return the information sets of the first moves, as many whole moves as fit; those that any play can reach.

    Where rounds know nothing of each other, they are those of the first round.
    """
    views: dict[str, View[Any]] = {}
    fresh: dict[str, View[Any]] = {}
    depth = states = 0
    for moves, state in walk_positions((state for _, state in starts(game)), _moved_on, dump_of):
        if moves > depth:  # the move before is whole
            views |= {key: view for key, view in fresh.items() if key not in views}
            fresh, depth, states = {}, moves, 0
        states += 1
        for seat in state.to_act:
            view = state.view(seat)
            fresh.setdefault(view.info_key, view)
        if len(views) + len(fresh) > limit or states > limit * limit:
            return views
    return views | {key: view for key, view in fresh.items() if key not in views}


def _moved_on(state: State[Any]) -> Iterator[State[Any]]:
    """Yield all states with a decision that one move can lead to, in the same round where rounds stand alone."""
    for after, result in successors(state):
        if not (after.over or (result.closed and state.game.spec.independent_rounds)):
            yield after
