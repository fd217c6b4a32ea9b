"""Probabilities of all actions at a recorded decision: what a player could have done instead, and how likely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from stratagem.games.base import Json, Seat, View
from stratagem.language.engines.remote.budget import Budget, spending
from stratagem.language.engines.remote.tally import PriceList, use_prices
from stratagem.players.base import Player, scores_of
from stratagem.players.catalogue import make_player
from stratagem.show.viewer.jobs import JobPrice
from stratagem.show.viewer.positions import read_position
from stratagem.show.viewer.pricing import price_of

_SHOWN = 60
"""Largest number of actions that are told, the most likely ones."""
_SCORED_CALLS = 8
"""Largest number of calls of a server for one situation."""


@dataclass(frozen=True, kw_only=True)
class Alternatives:
    """Question about one decision."""

    folder: Path
    episode: str
    turn: int
    seat: Seat
    player: str
    accepted: int = 0
    """Number of calls of models that the reader has accepted."""
    prices: PriceList = field(default_factory=dict)


def ask_alternatives(question: Alternatives, connection: Connection) -> Any:
    """Return the probability of each action, in the process of a job; where a model must be asked, first the price."""
    position = read_position(question.folder, question.episode, question.turn)
    view = position.view(question.seat)
    with use_prices(question.prices):
        player = make_player(question.player, position.state.game)
        price = price_of(position, [(question.seat, player)], 1)
        if price is not None:
            calls = _SCORED_CALLS if price.servers else 1
            price = price._replace(calls=calls, most_calls=calls)
            if calls > question.accepted:
                return JobPrice(price.to_json())
            with spending(Budget(float(calls), "calls")):
                return _tell_policy(player, view)
    return _tell_policy(player, view)


def _tell_policy(player: Player, view: View[Any]) -> Json:
    unseen, mix = 0.0, dict[str, float]()
    if player.traits.scored:
        ((known, unseen),) = scores_of(player, [view])
        mix = dict(known)
    else:
        mix = dict(player.policy(view))
    every = mix if view.choices.count > _SHOWN else {action: mix.get(action, 0.0) for action in view.choices}
    likely = sorted(every.items(), key=lambda pair: -pair[1])
    return {
        "player": player.name,
        "actions": [{"action": action, "p": p} for action, p in likely[:_SHOWN]],
        "rest": _rest(mix, dict(likely[:_SHOWN])),
        "unseen": unseen,
        "none": max(0.0, 1.0 - sum(mix.values()) - unseen),
        "count": view.choices.count,
    }


def _rest(mix: Mapping[str, float], shown: Mapping[str, float]) -> float:
    """Return the probability of the actions that are not shown."""
    return sum(p for action, p in mix.items() if action not in shown)
