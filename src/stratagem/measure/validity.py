"""Replies of a language model: their shares by kind, and the cost of a decision.

Counted over every time the player was asked, a second try after an illegal reply included. Intervals are Wilson's for
the effective number of tries, by the spread between deals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from stratagem.games.base import Json
from stratagem.language.engines.base import Finish
from stratagem.measure.matchups import Matchup
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate
from stratagem.players.base import How
from stratagem.playing.records import Decision, Episode

ENDS: tuple[Finish, ...] = tuple(end for end in get_args(Finish) if end not in ("done", "error"))
"""Ends of replies that are counted apart: length, refusal, filter, timeout, exit, malformed."""
KINDS: tuple[How, ...] = tuple(kind for kind in get_args(How) if kind not in ("scripted", "absent"))
"""Kinds of replies: free, recovered, constrained, illegal, error."""


@dataclass(frozen=True)
class Validity:
    """One player's replies in one game."""

    num_decisions: int
    shares: dict[str, Estimate]
    """Share of each kind, in the order of `KINDS`; they sum to one."""
    ends: dict[str, Estimate]
    """Share of the decisions whose last reply ended so, in the order of `ENDS`; it is a part of a kind above."""
    prompt_tokens: float
    """Prompt tokens a decision, shared prefixes counted each time."""
    reply_tokens: float
    """Reply tokens a decision, forced ones included."""
    ms: float
    """Milliseconds of the engine a decision, a batch's time shared among its replies."""

    def to_json(self) -> Json:
        """Return every figure by name but the time, which would differ between two equal evaluations."""
        costs = {"prompt_tokens": self.prompt_tokens, "reply_tokens": self.reply_tokens}
        shares, ends = ({kind: share.to_json() for kind, share in some.items()} for some in (self.shares, self.ends))
        return {"num_decisions": self.num_decisions, "shares": shares, "ends": ends, "per_decision": costs}


def validity(matchups: Sequence[Matchup]) -> Validity | None:
    """Return the replies of the agent in these matchups; None for a player that asked no model."""
    episodes = [episode for matchup in matchups for episode in matchup.episodes]
    rows = [row for episode in episodes for row in _mine(episode)]
    calls = [call for row in rows for call in row.calls]
    if not calls:
        return None
    asked = [episode for episode in episodes if _count(episode, KINDS)]
    return Validity(
        num_decisions=len(rows),
        shares={kind: _share(asked, kind) for kind in KINDS},
        ends={end: _share_ended(asked, end) for end in ENDS},
        prompt_tokens=sum(call.num_prompt for call in calls) / len(rows),
        reply_tokens=sum(call.num_reply for call in calls) / len(rows),
        ms=math.fsum(call.ms for call in calls) / len(rows),
    )


def _share(episodes: Sequence[Episode], kind: How) -> Estimate:
    return rate(episodes, lambda e: _count(e, [kind]), lambda e: _count(e, KINDS), lambda e: e.group)


def _share_ended(episodes: Sequence[Episode], end: Finish) -> Estimate:
    def count(episode: Episode) -> int:
        return sum(bool(row.calls) and row.calls[-1].finish == end for row in _mine(episode))

    return rate(episodes, count, lambda e: _count(e, KINDS), lambda e: e.group)


def _mine(episode: Episode) -> Iterable[Decision]:
    return (row for row in episode.decisions if episode.slots[row.seat] == 0)


def _count(episode: Episode, kinds: Sequence[str]) -> int:
    return sum(row.how in kinds for row in _mine(episode))
