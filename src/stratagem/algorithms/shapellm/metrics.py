"""Metrics of a trial: payoff per step, frequencies of joint actions, policies in the five states, and regret.

The regret of a learner compares its payoff against the others' final policies with that of the best memory-one policy.
The best policy is searched among the 32 deterministic memory-one policies of two actions, so an unrestricted best
response may earn more. It is selected by some games and measured in others, which avoids selection bias. Where a seat
learns by exact values, all of these are exact, and no game is played.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import torch

from stratagem.algorithms.shapellm.seat import Seat
from stratagem.algorithms.shapellm.shapers.memory_one import START, MemoryOneGame, memory_one_views
from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Json, View
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixFacts, MatrixGame
from stratagem.players.base import Mix, Player, Scripted, Traits
from stratagem.players.model_player import ModelPlayer
from stratagem.playing.match import Match, Setup
from stratagem.playing.memory import memory_of
from stratagem.playing.records import Episode
from stratagem.playing.workers.shards import play_setups
from stratagem.training.stage import Metrics

NULL = "null"
"""Joint action of a round in which a seat had no legal action (a null action)."""
CERTAIN = 40.0
"""Log-odds of an action that is taken for certain: its probability rounds to 1 in float64."""


def payoff_metrics(episodes: Sequence[Episode], names: Sequence[str]) -> Metrics:
    """Return each seat's mean payoff per step, over rounds without a null action, and its rate of null actions."""
    legal = [
        payoffs
        for episode in episodes
        for payoffs, complete in zip(episode.rounds, _without_null(episode), strict=True)
        if complete
    ]
    steps = sum(len(episode.rounds) for episode in episodes)
    figures = {f"{name}/payoff": _mean([row[slot] for row in legal]) for slot, name in enumerate(names)}
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


_ACTIONS = 2
SEARCHED = 10
"""Number of games by which a policy is selected."""


@dataclass(frozen=True)
class MemoryOne(Scripted[MatrixFacts]):
    """Deterministic memory-one player: its action depends on the last joint action."""

    traits = Traits(memory=1)
    first: int
    """Index of the action in the first round."""
    after: tuple[tuple[int, ...], ...]
    """Index of the action after each joint action: by its own action, then by the other's."""

    def strategy(self, view: View[MatrixFacts]) -> str | Mix:
        facts = view.facts
        index = self.after[facts.mine[-1]][facts.theirs[-1]] if facts.mine else self.first
        return facts.labels[index]


def all_memory_one() -> Iterator[MemoryOne]:
    """Yield all deterministic memory-one players of two actions."""
    for first, *after in product(range(_ACTIONS), repeat=1 + _ACTIONS**2):
        yield MemoryOne(first, (tuple(after[:_ACTIONS]), tuple(after[_ACTIONS:])))


def interests(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Json:
    """Return for every learning seat its payoff per step, and that of the best memory-one policy in its place."""
    if not isinstance(game, MatrixGame) or {len(game.seat_labels(seat)) for seat in (0, 1)} != {_ACTIONS}:
        return {}
    if any(seat.needs_policies for seat in seats.values()):
        return {name: _exact(game, list(seats.values()), slot) for slot, name in enumerate(seats) if seats[name].every}
    result: Json = {}
    for slot, (name, seat) in enumerate(seats.items()):
        if seat.every:
            policies = list(all_memory_one())
            earned = _pays(game, seats, slot, policies, SEARCHED, key.at("search", slot))
            best = max(range(len(policies)), key=lambda index: (earned[index], -index))
            pair = _pays(game, seats, slot, [seat.player, policies[best]], games, key.at("measure", slot))
            result[name] = {"earned": pair[0], "possible": pair[1], "first": policies[best].first}
            result[name]["after"] = policies[best].after
    return result


def _exact(game: MatrixGame, seats: Sequence[Seat], slot: int) -> Json:
    """Return the same for one seat by the exact values of memory-one policies."""
    own, other = (torch.tensor(first_log_odds(game, at, seats[at]), dtype=torch.float64) for at in (slot, 1 - slot))
    policies, values = list(all_memory_one()), MemoryOneGame.of(game, slot, 1.0)
    choices = torch.tensor([[policy.first, *policy.after[0], *policy.after[1]] for policy in policies])
    pays = values.values(CERTAIN * (1.0 - 2.0 * choices), other.expand(len(policies), -1))[0] / values.length
    best = policies[int(pays.argmax())]
    earned = values.values(own, other)[0].item() / values.length
    return {"earned": earned, "possible": pays.max().item(), "first": best.first, "after": best.after}


def _pays(
    game: MatrixGame, seats: Mapping[str, Seat], slot: int, players: Sequence[Player], games: int, key: Key
) -> list[float]:
    """Return the payoff per step of each player in a seat's place, all in the same games."""
    setups = list(_setups(game, seats, slot, players, games, key))
    episodes = play_setups(setups)
    payoffs = []
    for number in range(len(players)):
        own = episodes[number * games : (number + 1) * games]
        payoff = payoff_metrics(own, list(seats))[f"{list(seats)[slot]}/payoff"]
        payoffs.append(payoff if math.isfinite(payoff) else -math.inf)
    return payoffs


def _setups(
    game: MatrixGame, seats: Mapping[str, Seat], slot: int, players: Sequence[Player], games: int, key: Key
) -> Iterator[Setup]:
    for number, player in enumerate(players):
        others = [seat.player for seat in seats.values()]
        match = Match(game, [*others[:slot], player, *others[slot + 1 :]])
        for each in range(games):
            yield Setup(id=f"{slot}/{number}/{each}", match=match, slots=(0, 1), key=key.at("game", each))
