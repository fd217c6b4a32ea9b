"""Sizes of the forward passes over a pack: rows, their tokens, and the tokens that these attend to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stratagem.learning.example import Example
from stratagem.learning.pack_cost import PackPlanner, shape_of_pack
from stratagem.learning.packing import Pack, Texts, pack_texts
from stratagem.learning.prefix_batch import PrefixBatch, prefix_batch
from stratagem.learning.tree_batch import tree_batch


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
    texts = Texts(examples)
    packs = pack_texts(texts, budget, share=share)
    return PackPlanner(budget, prefix_batches).plan(packs, texts) if share and packs else packs


def cheaper_prefixes(pack: Pack) -> PrefixBatch | None:
    """Return a pack as a shared-prefix batch, if that is cheaper to read than as a tree batch."""
    shape = shape_of_pack(pack)
    return prefix_batch(pack) if shape.prefix_cost < shape.tree_cost else None


def pack_size(pack: Pack, examples: Sequence[Example], *, share: bool, prefix_batches: bool) -> PackSize:
    """Return the sizes of the forward passes by which a policy reads a pack of these examples."""
    passes = _shared_passes(pack, prefix_batches) if share else (_padded_pass(pack),)
    return PackSize(passes, sum(len(examples[number].loss_positions) for number in pack.examples))


def _shared_passes(pack: Pack, prefix_batches: bool) -> tuple[PassSize, ...]:
    batch = cheaper_prefixes(pack) if prefix_batches else None
    if batch is None:
        tree = tree_batch(pack)
        return (PassSize(len(tree.rows), tree.width, tree.width, not tree.plain),)
    prefixes = PassSize(len(batch.prefixes), batch.depth, batch.depth, masked=False)
    rest = PassSize(len(batch.rows), batch.width, batch.depth + batch.width, masked=True)
    return (prefixes, rest) if batch.rows else (prefixes,)


def _padded_pass(pack: Pack) -> PassSize:
    width = max(branch.size for branch in pack.branches)
    return PassSize(len(pack.branches), width, width, masked=False)
