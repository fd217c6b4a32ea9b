"""Cost of an audit: the agent's own decisions, with their calls, tokens, time and money.

For a model behind a server the largest cost is estimated before anything is asked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.games.random_play import random_turns
from stratagem.language.engines.base import Call, Finish, Request
from stratagem.language.engines.remote.budget import CHARACTERS, largest_cost
from stratagem.language.engines.remote.tally import prices_of
from stratagem.language.models.reference import parse_model
from stratagem.measure.audit.card import AuditCost
from stratagem.measure.audit.plan import AuditPlan
from stratagem.players.base import Ask, Move
from stratagem.players.catalogue import make_player
from stratagem.players.language import LanguagePlayer
from stratagem.playing.records import Decision, Episode

PARTIAL: tuple[Finish, ...] = ("length", "refusal", "filter")
"""Ends of replies that are not all of a model's answer."""
_LONGEST = 300
"""Number of characters of a reason that are kept."""


def own_decisions(episode: Episode, agent: str) -> Iterator[Decision]:
    """Yield an agent's decisions, also under the names of other settings; a probe's episode asks nobody else.

    Where seats choose at once, a seat that nobody holds has a row, too, which is nobody's decision.
    """
    for row in episode.decisions:
        if row.how == "absent":
            continue
        if episode.purpose == "probe" or episode.players[row.seat].rpartition("@")[0] == agent:
            yield row


def cost_of(episodes: Iterable[Episode], agent: str) -> AuditCost:
    """Add the calls of an agent."""
    decisions = [row for episode in episodes for row in own_decisions(episode, agent)]
    calls = [call for row in decisions for call in row.calls]
    failed = [call for call in calls if call.failed]
    return _price_calls(
        AuditCost(
            decisions=len(decisions),
            calls=len(calls),
            prompt_tokens=sum(call.num_prompt for call in calls),
            reply_tokens=sum(call.num_reply for call in calls),
            seconds=round(math.fsum(call.ms for call in calls) / 1000.0, 1),
            failed=len(failed),
            failure=" ".join(failed[-1].text.split())[:_LONGEST] if failed else "",
            unsaid=_count_unsaid(decisions),
        ),
        calls,
    )


def _count_unsaid(decisions: Iterable[Decision]) -> dict[str, int]:
    illegal = Counter(row.calls[-1].finish for row in decisions if row.how == "illegal" and row.calls)
    return {end: illegal[end] for end in PARTIAL if illegal[end]}


def _price_calls(cost: AuditCost, calls: list[Call]) -> AuditCost:
    models = {call.policy.base for call in calls}
    prices = prices_of(next(iter(models))) if len(models) == 1 else None
    if prices is None:
        return cost
    return replace(cost, money=prices.of(cost.prompt_tokens, cost.reply_tokens), currency=prices.currency)


_EPISODES = 5
"""Episodes of random play whose prompts are measured."""


@dataclass(frozen=True)
class AuditEstimate:
    """Largest cost, if each decision takes one call, and the cost of replies that are an action alone."""

    calls: int
    prompt_tokens: int
    reply_tokens: int
    """Tokens of replies that are all as long as they may be."""
    money: float | None
    """Money at the prices given; None where they are not known."""
    currency: str
    action_tokens: int = 0
    """Tokens of replies that are an action alone."""
    action_money: float | None = None
    """Money with these."""


def largest(plan: AuditPlan) -> AuditEstimate | None:
    """Return the largest cost of an audit; None where the agent is no model behind a server."""
    calls, prompt, reply, action = 0, 0.0, 0.0, 0.0
    model = ""
    for game, step in {step.game: step for step in plan.steps}.items():
        made = plan.task(step, None).game
        agent = make_player(plan.agent, made)
        if not isinstance(agent, LanguagePlayer) or parse_model(agent.model).kind != "api":
            return None
        model = parse_model(agent.model).where
        decisions = sum(step.most for step in plan.steps if step.game == game)
        turns = list(_turns(made))
        costs = [largest_cost(_request(agent, view)) for view, _ in turns]
        calls += decisions
        prompt += decisions * sum(cost.prompt for cost in costs) / len(costs)
        reply += decisions * agent.max_new_tokens
        action += decisions * sum(1.0 + len(said) / CHARACTERS for _, said in turns) / len(turns)
    prices = prices_of(model)
    most, alone = (None if prices is None else prices.of(prompt, replies) for replies in (reply, action))
    currency = prices.currency if prices else ""
    return AuditEstimate(calls, round(prompt), round(reply), most, currency, round(action), alone)


def _turns(game: Game[Any]) -> Iterator[tuple[View[Any], str]]:
    """Yield what seats see in some episodes of random play, and what they do."""
    for number in range(_EPISODES):
        key = Key(0).at("estimate", number)
        for turn in random_turns(game.start(key.at("chance")), key):
            yield from turn.decisions()


def _request(agent: LanguagePlayer, view: View[Any]) -> Request:
    """Return the first request of a turn; nothing is sent."""
    turn = agent.turn(Ask(view, Key(0), 0, 0, 0, None))
    assert not isinstance(turn, Move), "a model asks before it moves"
    return next(turn)
