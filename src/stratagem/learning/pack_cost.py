"""Estimated cost of reading a pack, and the packs that are cheapest to read.

A pack is split between texts with short common prefixes where the parts cost less. Parts of similar shapes are then put
together into packs up to the budget, since each forward pass has a fixed cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stratagem.learning.packing import Branch, Pack, Texts, merged, split

_TOKEN_COST = 768
"""Cost of a token without attention, in attended tokens."""
_PASS_COST = 64
"""Fixed cost of a forward pass, in tokens."""
_OPEN = 8
"""Maximum number of packs that are being filled."""
_MAX_SPLITS = 5
"""Maximum number of ways to split a pack that are tried."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a pack's rows, as a tree batch and as a shared-prefix batch."""

    tokens: int
    largest: int
    """Number of tokens of the largest tree."""
    trees: int
    depth: int
    """Length of the longest common prefix of a tree."""
    rows: int
    """Number of texts with a rest after it."""
    width: int
    """Length of the longest rest."""

    def __add__(self, other: Shape) -> Shape:
        return Shape(
            self.tokens + other.tokens,
            max(self.largest, other.largest),
            self.trees + other.trees,
            max(self.depth, other.depth),
            self.rows + other.rows,
            max(self.width, other.width),
        )

    @property
    def tree_cost(self) -> int:
        """Estimated cost as a tree batch, in attended tokens."""
        return _cost(-(-self.tokens // self.largest) * self.largest, self.largest)

    @property
    def prefix_cost(self) -> int:
        """Estimated cost as a shared-prefix batch."""
        rows = _cost(self.rows * self.width, self.depth + self.width) if self.rows else 0
        return _cost(self.trees * self.depth, self.depth) + rows


def _cost(tokens: int, attended: int) -> int:
    """Estimate the cost of a pass over tokens that each attend to a number of others."""
    return tokens * (attended + _TOKEN_COST) + _PASS_COST * _TOKEN_COST


def shape_of(branches: Sequence[Branch]) -> Shape:
    """Return the shape of one tree: some branches, the first of which is taken as the root."""
    root, *others = branches
    depth = min((branch.depth for branch in others), default=root.reach)
    tokens, reach = root.reach + sum(branch.size for branch in others), max(branch.reach for branch in branches)
    return Shape(tokens, tokens, 1, depth, sum(branch.reach > depth for branch in branches), reach - depth)


def shape_of_pack(pack: Pack) -> Shape:
    """Return the shape of a pack."""
    first, *others = map(shape_of, pack.trees)
    return sum(others, start=first)


@dataclass
class _Group:
    """Parts of a pack that is being filled."""

    parts: list[int]
    shape: Shape


@dataclass(frozen=True)
class PackPlanner:
    """Finder of the packs that are cheapest to read."""

    budget: int
    """Maximum number of tokens of a pack; a single text may have more."""
    prefix_batches: bool
    """Reading of shared-prefix batches besides tree batches."""

    def cost(self, shape: Shape) -> int:
        """Return the cost of the cheaper way to read a pack."""
        return min(shape.tree_cost, shape.prefix_cost) if self.prefix_batches else shape.tree_cost

    def plan(self, packs: Sequence[Pack], texts: Texts) -> list[Pack]:
        """Split packs where that is cheaper, and put the parts together."""
        parts = [part for pack in packs for part in self._parts(pack, texts)]
        shapes = [shape_of_pack(part) for part in parts]
        return [merged([parts[number] for number in group.parts]) for group in self._fill(shapes)]

    def _parts(self, pack: Pack, texts: Texts) -> list[Pack]:
        """Return the cheapest of the pack's trees and of their splits; pairs stay together."""
        if any(texts.pairs[number] is not None for number in pack.examples):
            return [pack]
        starts = min(_starts(pack), key=lambda starts: self._cost_of(pack, starts))
        return [pack] if len(starts) == 1 else split(pack, texts, starts)

    def _cost_of(self, pack: Pack, starts: Sequence[int]) -> int:
        shapes = [shape_of(pack.branches[start:end]) for start, end in pairwise([*starts, len(pack.branches)])]
        return sum(self.cost(group.shape) for group in self._fill(shapes))

    def _fill(self, shapes: Sequence[Shape]) -> list[_Group]:
        """Group parts of similar shapes within the budget, where one pass is cheaper than several."""
        groups = list[_Group]()
        for number in sorted(range(len(shapes)), key=lambda number: (-shapes[number].depth, -shapes[number].width)):
            own = shapes[number]
            fitting = [group for group in groups[-_OPEN:] if group.shape.tokens + own.tokens <= self.budget]
            best = min(fitting, key=lambda group: self._added(group, own), default=None)
            if best is None or self._added(best, own) > self.cost(own):
                groups.append(_Group([number], own))
            else:
                best.parts.append(number)
                best.shape += own
        return groups

    def _added(self, group: _Group, shape: Shape) -> int:
        """Return the cost that a part adds to a group."""
        return self.cost(group.shape + shape) - self.cost(group.shape)


def _starts(pack: Pack) -> Iterator[list[int]]:
    """Yield ways to split a pack, by the first branch of each part: into its trees, and at longer common prefixes."""
    depths = [branch.depth for branch in pack.branches]
    for least in [0, *sorted(set(depths[1:]) - {0})[:_MAX_SPLITS]]:
        yield [number for number, depth in enumerate(depths) if depth <= least]
