"""Sizes of the forward passes over a pack: rows, their tokens, and the tokens that these attend to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from stratagem.learn.example import Example
from stratagem.learn.packing import BatchTexts, Pack, TextBranch, merge_packs, pack_texts, split
from stratagem.learn.prefix_batch import PrefixBatch, prefix_batch
from stratagem.learn.tree_batch import tree_batch

_TOKEN_COST = 768
"""Cost of a token without attention, in attended tokens.

By operations it is 6 h for a hidden size h: 24 h^2 for the weights of a layer, over 4 h for each attended token. This
is h = 128, as of `tiny`; a larger model pays less for attention than is reckoned here.
"""
_PASS_COST = 64
"""Fixed cost of a forward pass, in tokens."""
MICROBATCH = 4096
"""Tokens of a pass where nothing else is chosen."""
_OPEN = 8
"""Maximum number of packs that are being filled."""
_MAX_SPLITS = 5
"""Maximum number of ways to split a pack that are tried."""


@dataclass(frozen=True)
class PackSizes:
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

    def __add__(self, other: PackSizes) -> PackSizes:
        return PackSizes(
            self.tokens + other.tokens,
            max(self.largest, other.largest),
            self.trees + other.trees,
            max(self.depth, other.depth),
            self.rows + other.rows,
            max(self.width, other.width),
        )

    @property
    def tree_pairs(self) -> int:
        """Pairs of a token and a token that it may attend to, as a tree batch."""
        return -(-self.tokens // self.largest) * self.largest**2

    @property
    def prefix_pairs(self) -> int:
        """The same as a shared-prefix batch."""
        return self.trees * self.depth**2 + self.rows * self.width * (self.depth + self.width)

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


def shape_of(branches: Sequence[TextBranch]) -> PackSizes:
    """Return the shape of one tree: some branches, the first of which is taken as the root."""
    root, *others = branches
    depth = min((branch.depth for branch in others), default=root.reach)
    tokens, reach = root.reach + sum(branch.size for branch in others), max(branch.reach for branch in branches)
    return PackSizes(tokens, tokens, 1, depth, sum(branch.reach > depth for branch in branches), reach - depth)


def shape_of_pack(pack: Pack) -> PackSizes:
    """Return the shape of a pack."""
    first, *others = map(shape_of, pack.trees)
    return sum(others, start=first)


@dataclass
class _FilledPack:
    """Parts of a pack that is being filled."""

    parts: list[int]
    shape: PackSizes


@dataclass(frozen=True)
class PackPlanner:
    """Finder of the packs that are cheapest to read."""

    budget: int
    """Maximum number of tokens of a pack; a single text may have more."""
    prefix_batches: bool
    """Reading of shared-prefix batches besides tree batches."""

    def cost(self, shape: PackSizes) -> int:
        """Return the cost of the cheaper way to read a pack."""
        return min(shape.tree_cost, shape.prefix_cost) if self.prefix_batches else shape.tree_cost

    def plan(self, packs: Sequence[Pack], texts: BatchTexts) -> list[Pack]:
        """Split packs where that is cheaper, and put the parts together."""
        parts = [part for pack in packs for part in self._parts(pack, texts)]
        shapes = [shape_of_pack(part) for part in parts]
        return [merge_packs([parts[number] for number in group.parts]) for group in self._fill(shapes)]

    def _parts(self, pack: Pack, texts: BatchTexts) -> list[Pack]:
        """Return the cheapest of the pack's trees and of their splits; pairs stay together."""
        if any(texts.pairs[number] is not None for number in pack.examples):
            return [pack]
        starts = min(_starts(pack), key=lambda starts: self._cost_of(pack, starts))
        return [pack] if len(starts) == 1 else split(pack, texts, starts)

    def _cost_of(self, pack: Pack, starts: Sequence[int]) -> int:
        shapes = [shape_of(pack.branches[start:end]) for start, end in pairwise([*starts, len(pack.branches)])]
        return sum(self.cost(group.shape) for group in self._fill(shapes))

    def _fill(self, shapes: Sequence[PackSizes]) -> list[_FilledPack]:
        """Group parts of similar shapes within the budget, where one pass is cheaper than several."""
        groups = list[_FilledPack]()
        for number in sorted(range(len(shapes)), key=lambda number: (-shapes[number].depth, -shapes[number].width)):
            own = shapes[number]
            fitting = [group for group in groups[-_OPEN:] if group.shape.tokens + own.tokens <= self.budget]
            best = min(fitting, key=lambda group: self._added_cost(group, own), default=None)
            if best is None or self._added_cost(best, own) > self.cost(own):
                groups.append(_FilledPack([number], own))
            else:
                best.parts.append(number)
                best.shape += own
        return groups

    def _added_cost(self, group: _FilledPack, shape: PackSizes) -> int:
        """Return the cost that a part adds to a group."""
        return self.cost(group.shape + shape) - self.cost(group.shape)


def _starts(pack: Pack) -> Iterator[list[int]]:
    """Yield ways to split a pack, by the first branch of each part: into its trees, and at longer common prefixes."""
    depths = [branch.depth for branch in pack.branches]
    for least in [0, *sorted(set(depths[1:]) - {0})[:_MAX_SPLITS]]:
        yield [number for number, depth in enumerate(depths) if depth <= least]


class PassSize(NamedTuple):
    """Sizes of one forward pass."""

    rows: int
    width: int
    """Tokens of a row, padding included."""
    columns: int
    """Tokens that a row attends to: its own, and those of its prefix."""
    masked: bool
    """True where the attention has an explicit mask."""

    @property
    def tokens(self) -> int:
        """Tokens of all rows, padding included."""
        return self.rows * self.width

    @property
    def scores(self) -> int:
        """Pairs of a token and a token that it may attend to."""
        return self.tokens * self.columns


AttentionKind = Literal["dense", "branches", "flex"]
"""Way to attend over the trees of a pack: a table of tokens and tokens, branch by branch, or FlexAttention."""
MOST_PAIRS = {"cpu": 3 * 4096**2, "cuda": 3 * 2048**2}
"""Most pairs of tokens of dense passes, by the kind of device; a pack of more is wide.

Padded rows of n tokens have at most 3 n^2. So on a processor a pack of the default size, 4,096 tokens, is never wide:
its results are those of a dense mask, which takes 192 MiB at most.
"""


def is_wide(pack: Pack, device: str, *, prefix_batches: bool) -> bool:
    """Test whether a pack has too many pairs of tokens for a dense mask; it depends on no free memory."""
    shape = shape_of_pack(pack)
    pairs = shape.prefix_pairs if prefix_batches and shape.prefix_cost < shape.tree_cost else shape.tree_pairs
    return pairs > MOST_PAIRS.get(device, MOST_PAIRS["cpu"])


def may_be_wide(budget: int, device: str) -> bool:
    """Test whether packs of so many tokens may be wide; texts longer than half of it make larger packs."""
    return 3 * budget**2 > MOST_PAIRS.get(device, MOST_PAIRS["cpu"])


def sparse_kinds(device: str) -> tuple[AttentionKind, ...]:
    """Return the kinds of attention over wide packs, the preferred one first.

    On a processor FlexAttention has no backward pass.
    """
    return ("flex", "branches") if device == "cuda" else ("branches",)


class PackSize(NamedTuple):
    """Sizes of a pack: its forward passes, whose activations wait for one backward pass."""

    passes: tuple[PassSize, ...]
    loss_tokens: int
    """Number of tokens in the loss mask."""

    @property
    def tokens(self) -> int:
        """Tokens of all passes."""
        return sum(each.tokens for each in self.passes)


def planned_packs(examples: Sequence[Example], budget: int, *, share: bool, prefix_batches: bool) -> list[Pack]:
    """Pack examples as is cheapest to read, with at most `budget` tokens a pack."""
    texts = BatchTexts(examples)
    packs = pack_texts(texts, budget, share=share)
    return PackPlanner(budget, prefix_batches).plan(packs, texts) if share and packs else packs


def cheaper_prefixes(pack: Pack) -> PrefixBatch | None:
    """Return a pack as a shared-prefix batch, if that is cheaper to read than as a tree batch."""
    shape = shape_of_pack(pack)
    return prefix_batch(pack) if shape.prefix_cost < shape.tree_cost else None


def pack_size(
    pack: Pack, examples: Sequence[Example], *, share: bool, prefix_batches: bool, device: str = "cpu"
) -> PackSize:
    """Return the sizes of the forward passes by which a policy on a device reads a pack of these examples."""
    passes = _shared_passes(pack, device, prefix_batches) if share else (_padded_pass(pack),)
    return PackSize(passes, sum(len(examples[number].loss_positions) for number in pack.examples))


def _shared_passes(pack: Pack, device: str, prefix_batches: bool) -> tuple[PassSize, ...]:
    wide = is_wide(pack, device, prefix_batches=prefix_batches)
    batch = cheaper_prefixes(pack) if prefix_batches and not wide else None
    if batch is None:
        tree = tree_batch(pack)
        return (PassSize(len(tree.rows), tree.width, tree.width, not tree.plain and not wide),)
    prefixes = PassSize(len(batch.prefixes), batch.depth, batch.depth, masked=False)
    rest = PassSize(len(batch.rows), batch.width, batch.depth + batch.width, masked=True)
    return (prefixes, rest) if batch.rows else (prefixes,)


def _padded_pass(pack: Pack) -> PassSize:
    width = max(branch.size for branch in pack.branches)
    return PassSize(len(pack.branches), width, width, masked=False)
