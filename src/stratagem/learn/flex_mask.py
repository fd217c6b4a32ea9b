"""Attention over token trees by FlexAttention: a fused kernel on CUDA, which skips blocks that nothing sees.

A query sees a key that is not behind it and whose descendants reach to it, so two numbers a token state the whole mask.
The table of blocks is computed a stripe at a time. On a processor torch 2.13 has a forward pass alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import torch
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from stratagem.learn.tree_batch import TreeBatch

BLOCK = 128
"""Rows and columns of a block, as FlexAttention's kernels take them."""
_Seen = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""Function from the indices of row, head, query and key to whether the query sees the key."""


class TreeColumns(NamedTuple):
    """Numbers of each token of the rows of a tree batch, [R, W], and the columns of the queries, [R, Q]."""

    ends: torch.Tensor
    depths: torch.Tensor
    queries: torch.Tensor


@dataclass(frozen=True)
class FlexMask:
    """Mask of a tree batch for FlexAttention."""

    tree: TreeColumns
    _masks: dict[int | None, BlockMask] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, batch: TreeBatch, device: torch.device) -> FlexMask:
        """Return the mask of a tree batch."""
        columns = torch.arange(batch.width).expand(len(batch.rows), -1).contiguous()
        return cls(TreeColumns(batch.ends.to(device), batch.depths.to(device), columns.to(device)))

    @property
    def device(self) -> torch.device:
        """Device of its numbers."""
        return self.tree.ends.device

    def of_queries(self, columns: torch.Tensor) -> FlexMask:
        """Return the mask of these columns [R, Q] as queries."""
        return replace(self, tree=self.tree._replace(queries=columns), _masks={})

    def attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float, window: int | None
    ) -> torch.Tensor:
        """Return the attention of queries over keys and values."""
        result: torch.Tensor = flex_kernel(compiled=queries.is_cuda)(
            queries,
            keys,
            values,
            block_mask=self.block_mask(window),
            scale=scale,
            enable_gqa=queries.shape[1] != keys.shape[1],
        )
        return result

    def block_mask(self, window: int | None) -> BlockMask:
        """Return the blocks that are seen as a whole, those that are seen in part, and the rule within these."""
        if window not in self._masks:
            self._masks[window] = block_mask(self.tree, window)
        return self._masks[window]


def seen_rule(tree: TreeColumns, window: int | None) -> _Seen:
    """Return the rule by which a query sees a key."""
    ends, depths, queries = tree

    def seen(row: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        at = queries[row, query]
        return (key <= at) & (at < ends[row, key])

    if window is None:
        return seen

    def seen_nearby(row: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        near = depths[row, queries[row, query]] - depths[row, key] < window
        return seen(row, head, query, key) & near

    return seen_nearby


def block_mask(tree: TreeColumns, window: int | None) -> BlockMask:
    """Return the block mask of a tree, computed for the queries of one block at a time."""
    seen, (rows, width), number = seen_rule(tree, window), tree.ends.shape, tree.queries.shape[1]
    device = tree.ends.device
    row, keys = torch.arange(rows, device=device)[:, None, None], torch.arange(width, device=device)
    touched, whole = list[torch.Tensor](), list[torch.Tensor]()
    for start in range(0, number, BLOCK):
        queries = torch.arange(start, min(start + BLOCK, number), device=device)[:, None]
        stripe = seen(row, row, queries, keys)
        room = (0, -width % BLOCK, 0, BLOCK - len(queries))  # a block at the edge is never seen as a whole
        tiles = torch.nn.functional.pad(stripe, room).view(rows, BLOCK, -1, BLOCK)
        touched.append(tiles.any(dim=3).any(dim=1))
        whole.append(tiles.all(dim=3).all(dim=1))
    full = torch.stack(whole, dim=1)[:, None]
    part = torch.stack(touched, dim=1)[:, None] & ~full
    return BlockMask.from_kv_blocks(
        *_in_order(part), *_in_order(full), BLOCK_SIZE=BLOCK, mask_mod=seen, seq_lengths=(number, width)
    )


def _in_order(blocks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the number of marked blocks of each stripe, and the indices of blocks, the marked ones first."""
    order = blocks.to(torch.int8).argsort(dim=-1, descending=True, stable=True)
    return blocks.sum(-1, dtype=torch.int32), order.to(torch.int32).contiguous()


@cache
def flex_kernel(*, compiled: bool) -> Any:
    """Return FlexAttention; without a compiler it computes all scores, as a reference for small packs."""
    return torch.compile(flex_attention, dynamic=True) if compiled else flex_attention
