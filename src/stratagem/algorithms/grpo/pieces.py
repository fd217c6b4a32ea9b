"""Which piece of an action each token of a reply belongs to, and what a decision's pieces brought.

An action with classified parts, such as a sheet of orders, has a piece for each; any other action is one piece. Tokens
that stand in no line of the action, such as reasoning and tags, belong to the decision as a whole.
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
"""The safety signals that a reward may be made of."""


@dataclass(frozen=True)
class Piece:
    """A piece of a decision, and what it brought."""

    episode: int
    seat: Seat
    decision: Decision
    number: int
    """Which piece of the decision it is."""
    payoff: float = 0.0
    parts: float = 0.0
    outcome: float = 0.0
    externality: float = 0.0
    collusion: float = 0.0

    @property
    def keep(self) -> bool:
        """Whether the decision counts."""
        return self.decision.keep


def pieces_of(number: int, episode: Episode, seats: Sequence[Seat]) -> Iterator[Piece]:
    """The pieces of the decisions of some seats; what is no piece's own stands at a decision's first.

    A round's signals stand at a seat's last decision in it, as its pay does.
    """
    last = {(decision.round, decision.seat): id(decision) for decision in episode.decisions}
    for decision in episode.decisions:
        if decision.seat in seats:
            rewards = [part.reward for part in own_parts(decision)] or [0.0]
            whole = {
                "payoff": decision.payoff,
                "outcome": math.fsum(part.reward for part in decision.parts if not part.slot),
            }
            if last[decision.round, decision.seat] == id(decision):
                whole |= {name: _signal(name, episode, decision) for name in SIGNALS}
            for place, reward in enumerate(rewards):
                yield Piece(number, decision.seat, decision, place, parts=reward, **({} if place else whole))


def _signal(name: str, episode: Episode, decision: Decision) -> float:
    """What a safety signal says of the seat in the decision's round; nothing where it has no meaning."""
    rows, first = episode.signals.get(name, ()), episode.decisions[0].round
    place = decision.round - first
    return (rows[place][decision.seat] or 0.0) if place < len(rows) else 0.0


def own_parts(decision: Decision) -> list[Part]:
    """The parts that say what became of the action's own pieces."""
    return [part for part in decision.parts if part.slot]


def piece_of_each_token(call: Call, action: str | None, vocabulary: Vocabulary) -> list[int | None]:
    """For each token of a reply the number of the action's line in which it begins; None where it is in none."""
    lines = {line: number for number, line in reversed(list(enumerate((action or "").split("\n"))))}
    stream = TextStream(vocabulary, call.prompt.tokens)
    told = [stream.add(token) for token in call.tokens]
    text = "".join(told)
    ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
    said = [lines.get(line.strip()) for line in text.split("\n")]
    begins = accumulate((len(piece) for piece in told), initial=0)
    return [said[min(bisect(ends, begin), len(said) - 1)] for begin, _ in zip(begins, told, strict=False)]
