"""Policy of a player in the first situations of a game: all of them in a small game, the first moves of a large one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from stratagem.games.base import Game, State, View
from stratagem.games.enumeration import outcomes, starts
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
    layer = _layer((state for _, state in starts(game)), views, limit)
    while layer:
        layer = _layer((after for state in layer for after in _moved_on(state)), views, limit)
    return views


def _layer(states: Iterator[State[Any]], views: dict[str, View[Any]], limit: int) -> list[State[Any]]:
    """Return the states of one move, each once; none, and no views, where its information sets are too many."""
    layer: dict[str, State[Any]] = {}
    fresh: dict[str, View[Any]] = {}
    for state in states:
        layer.setdefault(repr(state.dump()), state)
        for seat in state.to_act:
            view = state.view(seat)
            fresh.setdefault(view.info_key, view)
        if len(views) + len(fresh) > limit or len(layer) > limit * limit:
            return []
    views.update((key, view) for key, view in fresh.items() if key not in views)
    return list(layer.values())


def _moved_on(state: State[Any]) -> Iterator[State[Any]]:
    """Yield all states that one move can lead to."""
    for actions in product(*(state.view(seat).choices for seat in state.to_act)):
        for _, after, result in outcomes(state, dict(zip(state.to_act, actions, strict=True))):
            if not (after.over or (result.closed and state.game.spec.independent_rounds)):
                yield after
