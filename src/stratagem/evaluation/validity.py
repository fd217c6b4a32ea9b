"""How a language model came to its actions: the shares of replies by kind, and what a decision cost.

Counted over every time the player was asked, a second try after an illegal reply included. Intervals are Wilson's for
the number of tries that the deals are worth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from stratagem.evaluation.bouts import Bout
from stratagem.evaluation.statistics import Estimate, rate
from stratagem.games.base import Json
from stratagem.play.records import Decision, Episode
from stratagem.players.base import How

KINDS: tuple[How, ...] = tuple(kind for kind in get_args(How) if kind not in ("scripted", "absent"))
"""What a reply can be: free, recovered, constrained, illegal, error."""


@dataclass(frozen=True)
class Validity:
    """One player's replies in one game."""

    num_decisions: int
    shares: dict[str, Estimate]
    """By kind, in the order of `KINDS`; they add up to one."""
    prompt_tokens: float
    """Tokens of the prompts a decision, shared beginnings counted each time."""
    reply_tokens: float
    """Tokens said a decision, forced ones included."""
    ms: float
    """Milliseconds of the engine a decision, a batch's time shared among its replies."""

    def to_json(self) -> Json:
        """Every figure by name; the milliseconds are this machine's."""
        costs = {"prompt_tokens": self.prompt_tokens, "reply_tokens": self.reply_tokens, "ms": self.ms}
        shares = {kind: share.to_json() for kind, share in self.shares.items()}
        return {"num_decisions": self.num_decisions, "shares": shares, "per_decision": costs}


def validity(bouts: Sequence[Bout]) -> Validity | None:
    """How the hero of these bouts replied; None for a player that asked no model."""
    episodes = [episode for bout in bouts for episode in bout.episodes]
    rows = [row for episode in episodes for row in _mine(episode)]
    calls = [call for row in rows for call in row.calls]
    if not calls:
        return None
    asked = [episode for episode in episodes if _count(episode, KINDS)]
    return Validity(
        num_decisions=len(rows),
        shares={kind: _share(asked, kind) for kind in KINDS},
        prompt_tokens=sum(call.num_prompt for call in calls) / len(rows),
        reply_tokens=sum(call.num_reply for call in calls) / len(rows),
        ms=math.fsum(call.ms for call in calls) / len(rows),
    )


def _share(episodes: Sequence[Episode], kind: How) -> Estimate:
    return rate(episodes, lambda e: _count(e, [kind]), lambda e: _count(e, KINDS), lambda e: e.group)


def _mine(episode: Episode) -> Iterable[Decision]:
    return (row for row in episode.decisions if episode.slots[row.seat] == 0)


def _count(episode: Episode, kinds: Sequence[str]) -> int:
    return sum(row.how in kinds for row in _mine(episode))
