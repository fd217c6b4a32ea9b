"""Choice of the candidate continuations of a reply that are worth reading before it is known which of them comes.

A constrained reply has few candidates at most nodes. To read one ahead costs its tokens; it saves a pass if the reply
takes it. Of the draw that decides, the noise is known before the logits, so candidates with large noise are more
likely. These guesses settle only what is read; the reply is drawn from the logits as ever.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, runtime_checkable

from stratagem.language.engines.base import Guide
from stratagem.language.engines.branches import NONE, Branches
from stratagem.language.engines.noise import gumbel_of
from stratagem.language.engines.reply import Reply

PASS = 16
"""Cost of a pass in tokens read."""
_LEAST = 1.0
"""Least number of tokens that a spared pass must save: below, only near-certain candidates would be read."""
_MOST = 48
"""Maximum number of tokens that are read ahead in one row."""


@runtime_checkable
class Forks(Protocol):
    """Guide that can be walked ahead."""

    def fork(self) -> Guide | None:
        """Return a guide that goes on from here by itself; None where the next tokens are free."""
        ...


class _ChoiceNode(NamedTuple):
    """Choice in the tree, in the order of its chance."""

    minus_chance: float
    number: int
    place: int
    guide: Guide
    length: int
    """Number of tokens of the reply before the choice."""


class BranchWalk:
    """Way of a reply through the branches that its row has just read."""

    def __init__(self, reply: Reply, place: int, branches: Branches, first: int) -> None:
        """`place` is the row of the logits after what the reply had read, `first` that of the branches' first ones."""
        self.reply, self.place = reply, place
        self.path: list[int] = []
        """Tokens of the branches that the reply took."""
        self.ready = not reply.pending
        """True if the logits for the next draw are there."""
        self._branches = branches
        self._places = {index: first + number for number, index in enumerate(branches.asked)}

    def follow(self) -> None:
        """Go on along the tokens that were drawn, as far as they were read ahead."""
        index, pending = self.path[-1] if self.path else -1, self.reply.pending
        while pending and (child := self._branches.children.get((index, pending[0]))) is not None:
            index = child
            self.path.append(child)
            del pending[0]
        self.ready = not pending and index in self._places
        self.place = self._places.get(index, self.place)


def walks_of(replies: Sequence[Reply], branches: Sequence[Branches]) -> list[BranchWalk]:
    """Return the walks of the rows of a pass, whose logits come first, those of the branches after them."""
    ends = list(accumulate((len(own.asked) for own in branches), initial=len(replies)))
    rows = zip(replies, branches, ends, strict=False)
    return [BranchWalk(reply, row, own, first) for row, (reply, own, first) in enumerate(rows)]


def branches_of(reply: Reply, saved: float) -> Branches:
    """Return the candidates that are worth reading ahead, where a pass that is spared saves this many tokens."""
    guide = reply.request.guide
    if saved < _LEAST or not isinstance(guide, Forks):
        return NONE
    branches, first = Branches(), guide.fork()
    waiting = [] if first is None or first.done else [_ChoiceNode(-1.0, 0, -1, first, len(reply.tokens))]
    while waiting:
        node = heapq.heappop(waiting)
        for chance, token in _candidates(reply, node):
            run, after = _run(node.guide, token, reply.request.max_new_tokens - node.length)
            if after is None or not _pays(chance, len(run), saved):
                continue
            if len(branches) + len(run) > _MOST:
                return branches
            index = branches.add(node.place, run)
            heapq.heappush(waiting, _ChoiceNode(-chance, len(branches), index, after, node.length + len(run)))
    return branches


def _pays(chance: float, num_tokens: int, saved: float) -> bool:
    """Return whether a pass saved is worth more, on average, than tokens that are read in vain."""
    return chance * saved > (1.0 - chance) * num_tokens


def _candidates(reply: Reply, node: _ChoiceNode) -> Iterator[tuple[float, int]]:
    """Yield the tokens of a choice with their chances, by the noise alone."""
    allowed = node.guide.allowed
    if not allowed:
        return
    noise = _noise(reply, node.length, allowed)
    top = max(noise)
    weights = [math.exp(value - top) for value in noise]
    total = sum(weights)
    order = sorted(range(len(allowed)), key=lambda number: -weights[number])
    for number in order:
        yield -node.minus_chance * weights[number] / total, allowed[number]


def _noise(reply: Reply, index: int, allowed: Sequence[int]) -> Sequence[float]:
    if reply.request.sampling.temperature == 0.0:
        return [0.0] * len(allowed)
    return gumbel_of(reply.request.key, index, allowed)


def _run(guide: Guide, token: int, room: int) -> tuple[list[int], Guide | None]:
    """Return a candidate with the tokens that it forces, and the guide at the next choice; None if the reply ends."""
    ahead = guide.fork() if isinstance(guide, Forks) else None
    if ahead is None:
        return [], None
    ahead.advance(token)
    run = [token, *ahead.forced] if not ahead.done else [token]
    for forced in run[1:]:
        ahead.advance(forced)
    return run, None if ahead.done or len(run) >= room else ahead
