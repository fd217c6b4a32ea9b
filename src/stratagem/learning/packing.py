"""Examples as one tree of tokens: what several of them share is computed once, in training too.

The tokens of a pack are listed branch after branch; `grid` says how they stand side by side when they are read. Packs
are filled up to a number of tokens, so the memory of a step does not grow with the number of examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stratagem.decoding.vocabulary import Ids
from stratagem.learning.example import Example

_CUTTINGS = 5
"""So many ways to cut are tried, at most."""
Path = tuple[tuple[int, int], ...]
"""Branches from the root down, each with the depth up to which it is followed."""


@dataclass(frozen=True)
class Branch:
    """A stretch of tokens: where it stands in the list, how deep it begins, and what it goes on from."""

    start: int
    end: int
    depth: int
    above: Path

    @property
    def size(self) -> int:
        """How many tokens it has."""
        return self.end - self.start


@dataclass(frozen=True)
class Pack:
    """Examples, and the trees of their tokens."""

    examples: tuple[int, ...]
    """Their numbers in the batch."""
    tokens: tuple[int, ...]
    branches: tuple[Branch, ...]
    paths: tuple[Path, ...]
    """Where each example's text runs."""

    def node(self, path: Path, depth: int) -> int:
        """The place in the list of the token at a depth of a text."""
        branch = next(self.branches[number] for number, end in path if depth < end)
        return branch.start + depth - branch.depth

    @property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """For each example the places in the list of all tokens that are read."""
        return tuple(tuple(self.node(path, depth) for depth in range(path[-1][1])) for path in self.paths)


def pack_examples(examples: Sequence[Example], budget: int, *, share: bool = True) -> list[Pack]:
    """All examples in packs of at most `budget` tokens each (more only where one pair or example alone has more)."""
    packs, group, size, last = list[Pack](), list[int](), 0, Ids()
    texts = [read(example) for example in examples]
    for unit in _units(examples, texts):
        brought = 0
        before = last
        for number in unit:
            brought += len(texts[number]) - (_common_prefix(before, texts[number]) if share else 0)
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
    return example.tokens[: example.loss_positions[-1]]


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
    tokens, branches, paths = list[int](), list[Branch](), list[Path]()
    path, before = Path(), Ids()
    for number in order:
        text = texts[number]
        shared = _common_prefix(before, text) if share else 0
        path = _cut(branches, path, shared)
        if shared < len(text):
            branches.append(Branch(len(tokens), len(tokens) + len(text) - shared, shared, path))
            tokens.extend(text[shared:])
            path = (*path, (len(branches) - 1, len(text)))
        paths.append(path)
        before = text
    return Pack(tuple(order), tuple(tokens), tuple(branches), tuple(paths))


def _cut(branches: Sequence[Branch], path: Path, shared: int) -> Path:
    """A path down to a depth."""
    return tuple((number, min(end, shared)) for number, end in path if branches[number].depth < shared)


def splits(pack: Pack, examples: Sequence[Example]) -> Iterator[list[Pack]]:
    """Ways to cut a pack between neighbours that have little in common; examples of a pair stay together."""
    texts = [read(example) for example in examples]
    neighbours = list(pairwise(pack.examples))
    shared = [_common_prefix(texts[before], texts[after]) for before, after in neighbours]
    together = [examples[before].pair is not None for before, _ in neighbours]
    for least in sorted(set(shared))[1:_CUTTINGS]:
        groups = [[pack.examples[0]]]
        for (_, after), depth, paired in zip(neighbours, shared, together, strict=True):
            if depth < least and not paired:
                groups.append([])
            groups[-1].append(after)
        if len(groups) > 1:
            yield [tree(texts, group) for group in groups]


def _common_prefix(first: Ids, second: Ids) -> int:
    """How many tokens at the beginning are the same."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next(place for place in range(length) if first[place] != second[place])
