"""Largest cost of an audit of a model behind a server, before anything is asked: tokens, and money at given prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stratagem.auditing.plan import AuditPlan
from stratagem.engines.base import Request
from stratagem.engines.remote.budget import largest_cost
from stratagem.engines.remote.tally import prices_of
from stratagem.games.base import Game, View
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.models.reference import parse_model
from stratagem.players.base import Ask, Move
from stratagem.players.catalogue import make_player
from stratagem.players.language import LanguagePlayer

_EPISODES = 5
"""Episodes of random play whose prompts are measured."""


@dataclass(frozen=True)
class AuditEstimate:
    """Largest cost, if each decision takes one call."""

    calls: int
    prompt_tokens: int
    reply_tokens: int
    money: float | None
    """Money at the prices given; None where they are not known."""
    currency: str


def largest(plan: AuditPlan) -> AuditEstimate | None:
    """Return the largest cost of an audit; None where the agent is no model behind a server."""
    calls, prompt, reply = 0, 0.0, 0.0
    model = ""
    for game in dict.fromkeys(step.game for step in plan.steps):
        made = make_bounded_game(game)
        agent = make_player(plan.agent, made)
        if not isinstance(agent, LanguagePlayer) or parse_model(agent.model).kind != "api":
            return None
        model = parse_model(agent.model).where
        decisions = sum(step.decisions for step in plan.steps if step.game == game)
        costs = [largest_cost(_request(agent, view)) for view in _views(made)]
        calls += decisions
        prompt += decisions * sum(cost.prompt for cost in costs) / len(costs)
        reply += decisions * agent.max_new_tokens
    prices = prices_of(model)
    money = None if prices is None else prices.of(prompt, reply)
    return AuditEstimate(calls, round(prompt), round(reply), money, prices.currency if prices else "")


def _views(game: Game[Any]) -> Iterator[View[Any]]:
    """Yield what seats see in some episodes of random play."""
    for number in range(_EPISODES):
        key = Key(0).at("estimate", number)
        state, turn = game.start(key.at("chance")), 0
        while not state.over:
            views = {seat: state.view(seat) for seat in state.to_act}
            yield from views.values()
            state.play({seat: view.choices.sample(key.at(turn, seat)) for seat, view in views.items()})
            turn += 1


def _request(agent: LanguagePlayer, view: View[Any]) -> Request:
    """Return the first request of a turn; nothing is sent."""
    turn = agent.turn(Ask(view, Key(0), 0, 0, 0, None))
    assert not isinstance(turn, Move), "a model asks before it moves"
    return next(turn)
