"""Examples as one tree of tokens: what several of them share is computed once, in training too.

The tokens of a pack stand in one row, branch after branch. A token sees its own ancestors and nothing else, and its
position is its depth, so every example is read as if it stood alone. Packs are filled up to a number of tokens, so the
memory of a step does not grow with the number of examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from stratagem.decoding.vocabulary import Ids
from stratagem.learning.example import Example

Path = tuple[tuple[int, int], ...]
"""Branches from the root down, each with the depth up to which it is followed."""


@dataclass(frozen=True)
class Branch:
    """A stretch of tokens: where it stands in the row, how deep it begins, and what it goes on from."""

    start: int
    end: int
    depth: int
    above: Path


@dataclass(frozen=True)
class Pack:
    """Examples, and the tree of their tokens."""

    examples: tuple[int, ...]
    """Their numbers in the batch."""
    tokens: tuple[int, ...]
    branches: tuple[Branch, ...]
    nodes: tuple[tuple[int, ...], ...]
    """For each example the places in the row of the tokens that are read."""

    @property
    def depths(self) -> torch.Tensor:
        """The position of every token, [L]."""
        runs = [torch.arange(branch.depth, branch.depth + branch.end - branch.start) for branch in self.branches]
        return torch.cat(runs)

    @property
    def seen(self) -> torch.Tensor:
        """Which tokens (columns) each token (row) sees: its ancestors and itself, [L, L]."""
        followed = np.zeros((len(self.branches), len(self.branches)), dtype=np.int64)
        for number, branch in enumerate(self.branches):
            followed[number, number] = len(self.tokens)
            for other, end in branch.above:
                followed[number, other] = end
        lengths = torch.tensor([branch.end - branch.start for branch in self.branches])
        owner = torch.arange(len(self.branches)).repeat_interleave(lengths)
        depths = self.depths
        reach = torch.from_numpy(followed)[owner][:, owner]
        return (depths[None, :] < reach) & (depths[None, :] <= depths[:, None])


def packed(examples: Sequence[Example], budget: int, *, share: bool = True) -> list[Pack]:
    """All examples in packs of at most `budget` tokens each (more only where one pair or example alone has more)."""
    packs, group, size, last = list[Pack](), list[int](), 0, Ids()
    texts = [read(example) for example in examples]
    for unit in _units(examples, texts):
        brought = 0
        before = last
        for number in unit:
            brought += len(texts[number]) - (_agreement(before, texts[number]) if share else 0)
            before = texts[number]
        if group and size + brought > budget:
            packs.append(tree(texts, group, share=share))
            group, size = [], 0
            brought = sum(len(texts[number]) for number in unit)
        group += unit
        size, last = size + brought, texts[unit[-1]]
    return [*packs, tree(texts, group, share=share)] if group else packs


def read(example: Example) -> Ids:
    """The tokens that must be read: all before the last one that teaches."""
    return example.tokens[: example.taught[-1]]


def _units(examples: Sequence[Example], texts: Sequence[Ids]) -> Iterator[list[int]]:
    """Examples that must stay together, in an order in which neighbours share much."""
    pairs: dict[object, list[int]] = {}
    for number in sorted(range(len(examples)), key=texts.__getitem__):
        pair = examples[number].pair
        pairs.setdefault(("alone", number) if pair is None else ("pair", pair), []).append(number)
    yield from pairs.values()


def tree(texts: Sequence[Ids], group: Sequence[int], *, share: bool = True) -> Pack:
    """The tree of the texts of a group."""
    order = sorted(group, key=texts.__getitem__)
    tokens, branches, nodes = list[int](), list[Branch](), list[tuple[int, ...]]()
    path, before = Path(), Ids()
    for number in order:
        text = texts[number]
        shared = _agreement(before, text) if share else 0
        path = _cut(branches, path, shared)
        if shared < len(text):
            branches.append(Branch(len(tokens), len(tokens) + len(text) - shared, shared, path))
            tokens.extend(text[shared:])
            path = (*path, (len(branches) - 1, len(text)))
        nodes.append(tuple(_places(branches, path)))
        before = text
    return Pack(tuple(order), tuple(tokens), tuple(branches), tuple(nodes))


def _cut(branches: Sequence[Branch], path: Path, shared: int) -> Path:
    """A path down to a depth."""
    return tuple((number, min(end, shared)) for number, end in path if branches[number].depth < shared)


def _places(branches: Sequence[Branch], path: Path) -> Iterator[int]:
    for number, end in path:
        branch = branches[number]
        yield from range(branch.start, branch.start + end - branch.depth)


def _agreement(first: Ids, second: Ids) -> int:
    """How many tokens at the beginning are the same."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next(place for place in range(length) if first[place] != second[place])
