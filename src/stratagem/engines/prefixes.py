"""What was computed before: beginnings of texts with their keys and values, so that none is computed twice.

A segment is a stretch of tokens that goes on from some place in another segment. A text is a chain of stretches. New
texts hang on where they depart from what is there, in the middle of a segment too, since keys and values can be cut at
any token. What was not used for longest is dropped first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from stratagem.decoding.vocabulary import Ids

Tokens = np.ndarray[tuple[int], np.dtype[np.int64]]


class Piece(NamedTuple):
    """A stretch of a segment that a chain goes through: from its start up to `end`, both counted from the text's."""

    segment: Segment
    end: int


Chain = tuple[Piece, ...]


class Segment:
    """Tokens from `start` on, what was computed for them, and what goes on from them."""

    __slots__ = ("children", "kept", "logits", "parent", "start", "tokens", "used")

    def __init__(self, parent: Segment | None, start: int, tokens: Tokens, kept: torch.Tensor | None) -> None:
        self.parent = parent
        self.start = start
        self.tokens = tokens
        self.kept = kept
        self.logits: torch.Tensor | None = None
        """What the model says after the last token, where that was asked."""
        self.children: dict[tuple[int, int], list[Segment]] = {}
        """By where they start and with which token."""
        self.used = 0

    @property
    def end(self) -> int:
        return self.start + len(self.tokens)

    @property
    def size(self) -> int:
        """In bytes."""
        held = [tensor for tensor in (self.kept, self.logits) if tensor is not None]
        return sum(tensor.numel() * tensor.element_size() for tensor in held)

    def starts(self, upto: int) -> set[int]:
        """The places, up to one, where something goes on from here."""
        return {start for start, _ in self.children if start <= upto}


class Match(NamedTuple):
    """How much of a text is known."""

    chain: Chain
    length: int

    @property
    def logits(self) -> torch.Tensor | None:
        """What comes after it, where it ends with a segment that knows."""
        if not self.chain or self.chain[-1].segment.end != self.length:
            return None
        return self.chain[-1].segment.logits


class Prefixes:
    """A forest of segments, one tree for each set of weights, within a number of bytes."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.size = 0
        self._roots: dict[str, Segment] = {}
        self._clock = 0

    def match(self, weights: str, text: Ids) -> Match:
        """The longest beginning of a text that is known."""
        tokens = np.asarray(text, dtype=np.int64)
        self._clock += 1
        node, reached, chain = self._root(weights), 0, list[Piece]()
        while True:
            node.used = self._clock
            found, upto = self._further(node, tokens, reached)
            if found is None:
                break
            if chain:
                chain[-1] = Piece(node, found.start)
            chain.append(Piece(found, upto))
            node, reached = found, upto
        if chain and node.end != reached and (exact := self._ending(node, tokens, reached)) is not None:
            chain[-1:] = [Piece(node, exact.start), Piece(exact, reached)]
        return Match(tuple(chain), reached)

    def _ending(self, node: Segment, tokens: Tokens, reached: int) -> Segment | None:
        """Where a segment goes on beyond the text, one that departs from it and ends with the text, if there is one."""
        for start in node.starts(reached - 1):
            for child in node.children.get((start, int(tokens[start])), ()):
                if child.end == reached and agreement(child.tokens, tokens[start:reached]) == reached - start:
                    child.used = self._clock
                    return child
        return None

    def _further(self, node: Segment, tokens: Tokens, reached: int) -> tuple[Segment | None, int]:
        """Of what goes on from a segment that which agrees furthest, if it agrees further than was reached."""
        best, furthest = None, reached
        for start in node.starts(reached):
            if start >= len(tokens):
                continue
            for child in node.children.get((start, int(tokens[start])), ()):
                upto = start + agreement(child.tokens, tokens[start:])
                if upto > furthest or (upto == furthest and upto > reached and child.end == upto):
                    best, furthest = child, upto
        return best, furthest

    def add(self, weights: str, before: Chain, tokens: Sequence[int], kept: torch.Tensor | None) -> Segment:
        """Hang on what was computed for tokens that go on from a chain."""
        parent, start = (before[-1].segment, before[-1].end) if before else (self._root(weights), 0)
        segment = Segment(parent, start, np.asarray(tokens, dtype=np.int64), kept)
        segment.used = self._clock
        parent.children.setdefault((start, int(tokens[0])), []).append(segment)
        self.size += segment.size
        return segment

    def remember(self, segment: Segment, logits: torch.Tensor) -> None:
        """Keep what the model says after a segment."""
        self.size -= segment.size
        segment.logits = logits
        self.size += segment.size

    def drop(self, weights: str) -> None:
        """Forget everything under some weights, because they changed."""
        root = self._roots.pop(weights, None)
        if root is not None:
            self.size -= sum(segment.size for segment in _below(root))

    def trim(self) -> None:
        """Drop what was not used for longest, ends of chains first, until the rest fits."""
        while self.size > self.budget:
            ends = [s for root in self._roots.values() for s in _below(root) if not s.children and s.parent]
            ends.sort(key=lambda segment: segment.used)
            if not ends:
                return
            for segment in ends:
                if self.size <= self.budget:
                    return
                self._remove(segment)

    def _remove(self, segment: Segment) -> None:
        assert segment.parent is not None
        place = (segment.start, int(segment.tokens[0]))
        siblings = segment.parent.children[place]
        siblings.remove(segment)
        if not siblings:
            del segment.parent.children[place]
        self.size -= segment.size

    def _root(self, weights: str) -> Segment:
        return self._roots.setdefault(weights, Segment(None, 0, np.zeros(0, dtype=np.int64), None))


def agreement(first: Tokens, second: Tokens) -> int:
    """How many tokens at the beginning are the same."""
    length = min(len(first), len(second))
    differ = first[:length] != second[:length]
    where = int(differ.argmax()) if length else 0
    return where if length and differ[where] else length


def _below(segment: Segment) -> Iterator[Segment]:
    waiting = [segment]
    while waiting:
        one = waiting.pop()
        yield one
        for children in one.children.values():
            waiting.extend(children)
