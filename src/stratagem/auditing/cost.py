"""Cost of an audit: the agent's own decisions, with their calls, tokens, time and money."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from stratagem.auditing.card import Cost
from stratagem.engines.base import Call, Finish
from stratagem.engines.remote.tally import prices_of
from stratagem.play.records import Decision, Episode

PARTIAL: tuple[Finish, ...] = ("length", "refusal", "filter")
"""Ends of replies that are not all of a model's answer."""
_LONGEST = 300
"""Number of characters of a reason that are kept."""


def own_decisions(episode: Episode, agent: str) -> Iterator[Decision]:
    """Yield an agent's decisions, also under the names of other settings; a probe's episode asks nobody else."""
    for row in episode.decisions:
        if episode.purpose == "probe" or episode.players[row.seat].rpartition("@")[0] == agent:
            yield row


def cost_of(episodes: Iterable[Episode], agent: str) -> Cost:
    """Add the calls of an agent."""
    decisions = [row for episode in episodes for row in own_decisions(episode, agent)]
    calls = [call for row in decisions for call in row.calls]
    failed = [call for call in calls if call.failed]
    return _priced(
        Cost(
            decisions=len(decisions),
            calls=len(calls),
            prompt_tokens=sum(call.num_prompt for call in calls),
            reply_tokens=sum(call.num_reply for call in calls),
            seconds=round(math.fsum(call.ms for call in calls) / 1000.0, 1),
            failed=len(failed),
            failure=" ".join(failed[-1].text.split())[:_LONGEST] if failed else "",
            unsaid=_unsaid(decisions),
        ),
        calls,
    )


def _unsaid(decisions: Iterable[Decision]) -> dict[str, int]:
    illegal = Counter(row.calls[-1].finish for row in decisions if row.how == "illegal" and row.calls)
    return {end: illegal[end] for end in PARTIAL if illegal[end]}


def _priced(cost: Cost, calls: list[Call]) -> Cost:
    models = {call.policy.base for call in calls}
    prices = prices_of(next(iter(models))) if len(models) == 1 else None
    if prices is None:
        return cost
    return replace(cost, money=prices.of(cost.prompt_tokens, cost.reply_tokens), currency=prices.currency)
