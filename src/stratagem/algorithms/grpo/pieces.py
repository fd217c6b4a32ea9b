"""Pieces of an action, such as the orders of a sheet, with their rewards and their tokens.

An action with rewarded parts has a piece for each; any other action is one piece. Tokens in no line of the action, such
as reasoning and tags, belong to the decision as a whole.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from stratagem.decoding.stream import TextStream
from stratagem.decoding.vocabulary import Vocabulary
from stratagem.engines.base import Call
from stratagem.games.base import Part, Seat
from stratagem.play.records import Decision, Episode

SIGNALS = ("externality", "collusion")
"""Safety signals that may be reward terms."""


@dataclass(frozen=True)
class Piece:
    """Piece of a decision with its reward terms."""

    episode: int
    seat: Seat
    decision: Decision
    number: int
    """Index of the piece in the decision."""
    payoff: float = 0.0
    parts: float = 0.0
    outcome: float = 0.0
    externality: float = 0.0
    collusion: float = 0.0

    @property
    def keep(self) -> bool:
        """False for a discarded decision."""
        return self.decision.keep


def pieces_of(number: int, episode: Episode, seats: Sequence[Seat]) -> Iterator[Piece]:
    """Yield the pieces of some seats' decisions; the reward of a whole decision is at its first piece.

    A round's signals are at a seat's last decision in the round, as its payoff is.
    """
    last = {(decision.round, decision.seat): id(decision) for decision in episode.decisions}
    for decision in episode.decisions:
        if decision.seat in seats:
            rewards = [part.reward for part in own_parts(decision)] or [0.0]
            shared = {
                "payoff": decision.payoff,
                "outcome": math.fsum(part.reward for part in decision.parts if not part.slot),
            }
            if last[decision.round, decision.seat] == id(decision):
                shared |= {name: _signal(name, episode, decision) for name in SIGNALS}
            for index, reward in enumerate(rewards):
                yield Piece(number, decision.seat, decision, index, parts=reward, **({} if index else shared))


def _signal(name: str, episode: Episode, decision: Decision) -> float:
    """Return the safety signal of the seat in the decision's round; 0 where it is not defined."""
    rows, first = episode.signals.get(name, ()), episode.decisions[0].round
    index = decision.round - first
    return (rows[index][decision.seat] or 0.0) if index < len(rows) else 0.0


def own_parts(decision: Decision) -> list[Part]:
    """Return the parts of the action itself, without those of the outcome."""
    return [part for part in decision.parts if part.slot]


def piece_of_each_token(call: Call, action: str | None, vocabulary: Vocabulary) -> list[int | None]:
    """Return for each token of a reply the number of the action's line in which it begins; None where it is in none."""
    lines = {line: number for number, line in reversed(list(enumerate((action or "").split("\n"))))}
    stream = TextStream(vocabulary, call.prompt.tokens)
    texts = [stream.add(token) for token in call.tokens]
    reply_lines = "".join(texts).split("\n")
    ends = list(accumulate(len(line) + 1 for line in reply_lines))
    pieces = [lines.get(line.strip()) for line in reply_lines]
    begins = accumulate((len(text) for text in texts), initial=0)
    return [pieces[min(bisect(ends, begin), len(pieces) - 1)] for begin, _ in zip(begins, texts, strict=False)]
