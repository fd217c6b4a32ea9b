"""What a trial is summed up in: pay a step, how often each joint action was played, and each seat's policy."""

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
"""A round in which somebody said nothing legal."""


def paid(episodes: Sequence[Episode], names: Sequence[str]) -> Metrics:
    """What each seat was paid a step, rounds with a null action left out, and how often each said nothing legal."""
    legal = [paid for episode in episodes for paid, whole in zip(episode.rounds, _whole(episode), strict=True) if whole]
    steps = sum(len(episode.rounds) for episode in episodes)
    figures = {f"{name}/pay": _mean([row[slot] for row in legal]) for slot, name in enumerate(names)}
    for slot, name in enumerate(names):
        figures[f"{name}/null"] = sum(e.num_illegal[slot] for e in episodes) / max(1, steps)
    return figures


def _whole(episode: Episode) -> list[bool]:
    """For each round, whether everybody said something legal in it, be it when asked again."""
    played = {(row.turn, row.seat): row for row in episode.decisions}  # of several attempts, the last was played
    silent = {row.round for row in played.values() if row.action is None}
    return [number not in silent for number in range(len(episode.rounds))]


def visited(game: Game[Any], episodes: Sequence[Episode]) -> Metrics:
    """How often each joint action was played, as a share of all rounds; for matrix games."""
    if not isinstance(game, MatrixGame):
        return {}
    names = [*("-".join(pair) for pair in product(game.seat_labels(0), game.seat_labels(1))), NULL]
    seen = Counter(name for episode in episodes for name in _joint(episode))
    return {f"visited/{name}": seen[name] / max(1, seen.total()) for name in names}


def _joint(episode: Episode) -> Iterator[str]:
    for _, rows in groupby(episode.decisions, key=lambda row: row.turn):
        actions = {row.seat: row.action for row in rows}
        said = [actions[seat] for seat in sorted(actions)]
        yield NULL if None in said else "-".join(action or "" for action in said)


def situations(game: Game[Any], slot: int) -> dict[str, View[Any]]:
    """What a seat of a matrix game may see first and after one round, by the joint action, its own part first."""
    if not isinstance(game, MatrixGame):
        return {}
    seen = {START: game.start(Key(0)).view(slot)}
    for mine, theirs in product(game.seat_labels(slot), game.seat_labels(1 - slot)):
        state = game.start(Key(0))
        state.play({slot: mine, 1 - slot: theirs})
        if state.to_act:
            seen[f"{mine}-{theirs}"] = state.view(slot)
    return seen


def policies(game: Game[Any], seats: Mapping[str, Seat]) -> Metrics:
    """How likely each seat is to play its first action first, and after each joint action.

    For those that remember the last round at most: what any other would do hangs on what came before it, too.
    """
    figures: Metrics = {}
    for slot, (name, seat) in enumerate(seats.items()):
        seen = {} if _counts(seat) else situations(game, slot)
        for state, mix in zip(seen, _mixes(seat, list(seen.values())), strict=False):
            figures[f"{name}/first/{state}"] = mix.get(seen[state].choices.first, 0.0)
    return figures


def answers(game: Game[Any], seats: Mapping[str, Seat], episodes: Sequence[Episode]) -> Metrics:
    """How often each seat that remembers more did so in these episodes, as a share of what it legally said there."""
    figures: Metrics = {}
    for slot, (name, seat) in enumerate(seats.items()):
        seen = situations(game, slot) if _counts(seat) else {}
        said = list(_answers(episodes, slot)) if seen else []
        for state, view in seen.items():
            there = [action for before, action in said if before == state]
            figures[f"{name}/first/{state}"] = there.count(view.choices.first) / len(there) if there else math.nan
    return figures


def _answers(episodes: Sequence[Episode], slot: int) -> Iterator[tuple[str, str]]:
    """What a seat said, and after which joint action, its own part first; null actions left out."""
    for episode in episodes:
        before = START
        for _, rows in groupby(episode.decisions, key=lambda row: row.turn):
            actions = {row.seat: row.action for row in rows}
            own = actions.pop(episode.seat_of(slot), None)
            if own is not None:
                yield before, own
            before = NULL if own is None or None in actions.values() else "-".join([own, *map(str, actions.values())])


def _counts(seat: Seat) -> bool:
    """Whether it remembers more than the last round."""
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
