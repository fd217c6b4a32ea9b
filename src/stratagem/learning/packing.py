"""Packing of examples into token trees: a prefix that several examples share is computed once, in training too.

The tokens of a pack are listed branch after branch; `tree_batch` arranges them into rows. A pack has a maximum number
of tokens, so the memory of a step does not grow with the number of examples. The maximum is at least twice the longest
text of the pack: with less, texts of that length could not share their prefix.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from stratagem.decoding.vocabulary import Ids
from stratagem.learning.example import Example

_MAX_SPLITS = 5
"""Maximum number of ways to split a pack that are tried."""
Path = tuple[tuple[int, int], ...]
"""Branches from the root to a leaf, each with the depth up to which it is followed."""


@dataclass(frozen=True)
class Branch:
    """Run of tokens of a tree: its range in the pack's list, its depth, and its ancestors."""

    start: int
    end: int
    depth: int
    above: Path

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self.end - self.start


@dataclass(frozen=True)
class Pack:
    """Some examples of a batch, and the trees of their tokens."""

    examples: tuple[int, ...]
    """Indices of the examples in the batch."""
    tokens: tuple[int, ...]
    branches: tuple[Branch, ...]
    paths: tuple[Path, ...]
    """Path of each example through its tree."""

    def node(self, path: Path, depth: int) -> int:
        """Return the index in the list of the token at a depth of a text."""
        number, _ = path[bisect_right(path, depth, key=itemgetter(1))]
        branch = self.branches[number]
        return branch.start + depth - branch.depth

    @property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """Indices in the list of the input tokens of each example."""
        return tuple(tuple(self.node(path, depth) for depth in range(path[-1][1])) for path in self.paths)


def pack_examples(examples: Sequence[Example], budget: int, *, share: bool = True) -> list[Pack]:
    """Pack examples into packs of at most `budget` tokens, or twice the longest text (more only for a longer pair)."""
    texts = [read(example) for example in examples]
    packs, group = list[Pack](), _Group(texts, budget, share=share)
    for unit in _units(examples, texts):
        if not group.add(unit):
            packs.append(tree(texts, group.members, share=share))
            group = _Group(texts, budget, share=share)
            group.add(unit)
    return [*packs, tree(texts, group.members, share=share)] if group.members else packs


class _Group:
    """Examples of the next pack."""

    def __init__(self, texts: Sequence[Ids], budget: int, *, share: bool) -> None:
        self.members: list[int] = []
        self._texts, self._budget, self._share = texts, budget, share
        self._size = self._longest = 0

    def add(self, unit: Sequence[int]) -> bool:
        """Add examples; if they do not fit beside others, add nothing and return False."""
        longest = max(self._longest, *(len(self._texts[number]) for number in unit))
        size = self._size + self._added(unit)
        if self.members and size > (max(self._budget, 2 * longest) if self._share else self._budget):
            return False
        self.members += unit
        self._size, self._longest = size, longest
        return True

    def _added(self, unit: Sequence[int]) -> int:
        """Count the tokens that are not shared with the example before."""
        before = self._texts[self.members[-1]] if self.members else Ids()
        added = 0
        for number in unit:
            added += len(self._texts[number]) - (_common_prefix(before, self._texts[number]) if self._share else 0)
            before = self._texts[number]
        return added


def read(example: Example) -> Ids:
    """Return the input tokens: all before the last token in the loss mask."""
    return example.tokens[: example.loss_positions[-1]]


def _units(examples: Sequence[Example], texts: Sequence[Ids]) -> Iterator[list[int]]:
    """Yield the examples that must stay together, sorted so that neighbours share long prefixes."""
    pairs: dict[object, list[int]] = {}
    for number in sorted(range(len(examples)), key=texts.__getitem__):
        pair = examples[number].pair
        pairs.setdefault(("alone", number) if pair is None else ("pair", pair), []).append(number)
    yield from pairs.values()


def tree(texts: Sequence[Ids] | Mapping[int, Ids], group: Sequence[int], *, share: bool = True) -> Pack:
    """Build the trees of the texts of a group."""
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
    """Cut a path at a depth."""
    return tuple((number, min(end, shared)) for number, end in path if branches[number].depth < shared)


def splits(pack: Pack, examples: Sequence[Example]) -> Iterator[list[Pack]]:
    """Yield ways to split a pack between neighbours with short common prefixes; pairs stay together."""
    texts = {number: read(examples[number]) for number in pack.examples}
    neighbours = list(pairwise(pack.examples))
    shared = [_common_prefix(texts[before], texts[after]) for before, after in neighbours]
    together = [examples[before].pair is not None for before, _ in neighbours]
    for least in sorted(set(shared))[1:_MAX_SPLITS]:
        groups = [[pack.examples[0]]]
        for (_, after), depth, paired in zip(neighbours, shared, together, strict=True):
            if depth < least and not paired:
                groups.append([])
            groups[-1].append(after)
        if len(groups) > 1:
            yield [tree(texts, group) for group in groups]


def _common_prefix(first: Ids, second: Ids) -> int:
    """Return the length of the common prefix."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next(index for index in range(length) if first[index] != second[index])
