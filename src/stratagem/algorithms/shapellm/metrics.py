"""Metrics of a trial: payoff per step, frequencies of joint actions, and each seat's policy in the five states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, product
from typing import Any

from stratagem.algorithms.shapellm.seat import Seat
from stratagem.errors import CannotCompute
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame
from stratagem.play.memory import memory_of
from stratagem.play.records import Episode
from stratagem.players.base import Mix
from stratagem.players.model_player import ModelPlayer
from stratagem.training.stage import Metrics

START = "start"
NULL = "null"
"""Joint action of a round in which a seat had no legal action (a null action)."""
CERTAIN = 40.0
"""Log-odds of an action that is taken for certain."""


def payoff_metrics(episodes: Sequence[Episode], names: Sequence[str]) -> Metrics:
    """Return each seat's mean payoff per step, over rounds without a null action, and its rate of null actions."""
    legal = [
        payoffs
        for episode in episodes
        for payoffs, complete in zip(episode.rounds, _without_null(episode), strict=True)
        if complete
    ]
    steps = sum(len(episode.rounds) for episode in episodes)
    figures = {f"{name}/pay": _mean([row[slot] for row in legal]) for slot, name in enumerate(names)}
    for slot, name in enumerate(names):
        figures[f"{name}/null"] = sum(e.num_illegal[slot] for e in episodes) / max(1, steps)
    return figures


def _without_null(episode: Episode) -> list[bool]:
    """Return True for each round in which all seats had a legal action, at any attempt."""
    played = {(row.turn, row.seat): row for row in episode.decisions}  # the last attempt counts
    silent = {row.round for row in played.values() if row.action is None}
    return [number not in silent for number in range(len(episode.rounds))]


def joint_action_metrics(game: Game[Any], episodes: Sequence[Episode]) -> Metrics:
    """Return the share of all rounds with each joint action, in matrix games."""
    if not isinstance(game, MatrixGame):
        return {}
    names = [*("-".join(pair) for pair in product(game.seat_labels(0), game.seat_labels(1))), NULL]
    seen = Counter(name for episode in episodes for name in _joint(episode))
    return {f"visited/{name}": seen[name] / max(1, seen.total()) for name in names}


def _joint(episode: Episode) -> Iterator[str]:
    for _, rows in groupby(episode.decisions, key=lambda row: row.turn):
        actions = {row.seat: row.action for row in rows}
        in_order = [actions[seat] for seat in sorted(actions)]
        yield NULL if None in in_order else "-".join(action or "" for action in in_order)


def memory_one_views(game: Game[Any], slot: int) -> dict[str, View[Any]]:
    """Return a seat's views at the start and after each joint action, its own action first, in matrix games."""
    if not isinstance(game, MatrixGame):
        return {}
    views = {START: game.start(Key(0)).view(slot)}
    for mine, theirs in product(game.seat_labels(slot), game.seat_labels(1 - slot)):
        state = game.start(Key(0))
        state.play({slot: mine, 1 - slot: theirs})
        if state.to_act:
            views[f"{mine}-{theirs}"] = state.view(slot)
    return views


def policy_metrics(game: Game[Any], seats: Mapping[str, Seat]) -> Metrics:
    """Return each seat's probability of its first action at the start and after each joint action.

    Only for seats with a memory of at most one round: the policy of other seats depends on earlier rounds, too.
    """
    metrics: Metrics = {}
    for slot, (name, seat) in enumerate(seats.items()):
        views = {} if _has_long_memory(seat) else memory_one_views(game, slot)
        for state, mix in zip(views, _mixes(seat, list(views.values())), strict=False):
            metrics[f"{name}/first/{state}"] = mix.get(views[state].choices.first, 0.0)
    return metrics


def first_log_odds(game: Game[Any], slot: int, seat: Seat) -> tuple[float, ...]:
    """Return the log-odds of a seat's first of two actions in each of `memory_one_views`, at most `CERTAIN`."""
    views = list(memory_one_views(game, slot).values())
    chances = [
        [mix.get(action, 0.0) for action in view.choices] for view, mix in zip(views, _mixes(seat, views), strict=True)
    ]
    rarest = math.exp(-CERTAIN)
    return tuple(math.log(max(first, rarest) / max(second, rarest)) for first, second in chances)


def empirical_policy_metrics(game: Game[Any], seats: Mapping[str, Seat], episodes: Sequence[Episode]) -> Metrics:
    """Return the same probabilities for seats with a longer memory, as frequencies in the episodes."""
    metrics: Metrics = {}
    for slot, (name, seat) in enumerate(seats.items()):
        views = memory_one_views(game, slot) if _has_long_memory(seat) else {}
        transitions = list(_state_actions(episodes, slot)) if views else []
        for state, view in views.items():
            actions = [action for before, action in transitions if before == state]
            metrics[f"{name}/first/{state}"] = actions.count(view.choices.first) / len(actions) if actions else math.nan
    return metrics


def _state_actions(episodes: Sequence[Episode], slot: int) -> Iterator[tuple[str, str]]:
    """Yield a seat's actions with the joint action before each, its own action first; null actions are left out."""
    for episode in episodes:
        before = START
        for _, rows in groupby(episode.decisions, key=lambda row: row.turn):
            actions = {row.seat: row.action for row in rows}
            own = actions.pop(episode.seat_of(slot), None)
            if own is not None:
                yield before, own
            before = NULL if own is None or None in actions.values() else "-".join([own, *map(str, actions.values())])


def _has_long_memory(seat: Seat) -> bool:
    """True for a memory of more than the last round."""
    return memory_of(seat.memory).rounds is None


def _mixes(seat: Seat, views: list[View[Any]]) -> list[Mix]:
    player = seat.player
    try:
        if isinstance(player, ModelPlayer):
            return player.policies(views)
        return [player.policy(view) for view in views]
    except CannotCompute:
        return []


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
