"""Prefix cache: beginnings of texts with their keys and values, so that none is computed twice.

A segment is a stretch of tokens that goes on from some place in another segment. A text is a chain of stretches. New
texts hang on where they depart from what is there, in the middle of a segment too, since keys and values can be cut at
any token. So at each place every next token has at most one segment, and a text one chain. What was not used for
longest is dropped first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.row_store import Stretch

Tokens = np.ndarray[tuple[int], np.dtype[np.int64]]


class SegmentStretch(NamedTuple):
    """A stretch of a segment that a chain goes through: from its start up to `end`, both counted from the text's."""

    segment: Segment
    end: int


Chain = tuple[SegmentStretch, ...]


class Segment:
    """Tokens from `start` on, their keys and values, and the segments that follow.

    It does not refer to the segment before it: in a cycle, dropped keys and values would stay in memory until the
    garbage is collected, which is rare while a model is trained.
    """

    __slots__ = ("children", "logits", "start", "stored", "tokens", "used")

    def __init__(self, start: int, tokens: Tokens, stored: Stretch | None) -> None:
        self.start = start
        self.tokens = tokens
        self.stored = stored
        self.logits: dict[int, torch.Tensor] = {}
        """Logits after an index, where they were requested."""
        self.children: dict[tuple[int, int], Segment] = {}
        """Following segments by start and first token."""
        self.used = 0

    @property
    def size(self) -> int:
        """Size in bytes."""
        return sum(_bytes(tensor) for tensor in (*(self.stored or ()), *self.logits.values()))


class PrefixMatch(NamedTuple):
    """Cached part of a text."""

    chain: Chain
    length: int

    @property
    def logits(self) -> torch.Tensor | None:
        """The logits after the cached part, where they were requested."""
        return self.chain[-1].segment.logits.get(self.length) if self.chain else None


class Prefixes:
    """A forest of segments, one tree for each set of weights, within a number of bytes."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.size = 0
        self._roots: dict[str, Segment] = {}
        self._clock = 0

    def match(self, weights: str, text: Ids) -> PrefixMatch:
        """Return the longest cached beginning of a text."""
        tokens = np.asarray(text, dtype=np.int64)
        self._clock += 1
        node, reached, chain = self._root(weights), 0, list[SegmentStretch]()
        while reached < len(text) and (child := node.children.get((reached, text[reached]))) is not None:
            node, reached = child, reached + agreement(child.tokens, tokens[reached:])
            node.used = self._clock
            chain.append(SegmentStretch(node, reached))
        return PrefixMatch(tuple(chain), reached)

    def add(self, weights: str, known: PrefixMatch, tokens: Ids, stored: Stretch | None) -> None:
        """Add the computation for the tokens after the cached beginning of a text."""
        parent = known.chain[-1].segment if known.chain else self._root(weights)
        segment = Segment(known.length, np.asarray(tokens, dtype=np.int64), stored)
        segment.used = self._clock
        parent.children[known.length, tokens[0]] = segment
        self.size += segment.size

    def remember(self, known: PrefixMatch, logits: torch.Tensor) -> None:
        """Store the logits after a cached text."""
        tensors = known.chain[-1].segment.logits
        self.size += 0 if known.length in tensors else _bytes(logits)
        tensors[known.length] = logits

    def clear(self) -> None:
        """Forget everything."""
        self._roots.clear()
        self.size = 0

    def drop(self, weights: str) -> None:
        """Forget everything under some weights, because they changed."""
        root = self._roots.pop(weights, None)
        if root is not None:
            self.size -= sum(segment.size for _, segment in _links(root))

    def trim(self) -> None:
        """Drop the least recently used segments, ends of chains first, until the rest fits."""
        while self.size > self.budget:
            ends = [link for root in self._roots.values() for link in _links(root) if not link[1].children]
            ends.sort(key=lambda link: link[1].used)
            if not ends:
                return
            for parent, segment in ends:
                if self.size <= self.budget:
                    return
                del parent.children[segment.start, int(segment.tokens[0])]
                self.size -= segment.size

    def _root(self, weights: str) -> Segment:
        return self._roots.setdefault(weights, Segment(0, np.zeros(0, dtype=np.int64), None))


def agreement(first: Tokens, second: Tokens) -> int:
    """Return the number of equal tokens at the beginning."""
    length = min(len(first), len(second))
    differ = first[:length] != second[:length]
    where = int(differ.argmax()) if length else 0
    return where if length and differ[where] else length


def _links(root: Segment) -> Iterator[tuple[Segment, Segment]]:
    """Yield every segment below a root, after the segment that it follows."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for child in parent.children.values():
            yield parent, child
            waiting.append(child)


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
