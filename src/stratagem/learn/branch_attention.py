"""Attention over token trees branch by branch: memory grows linearly with the tokens of a pack, on any device.

The tokens of a branch attend to the path from the root to its end. Its keys and values are gathered for a few queries
at a time, and gathered again in the backward pass, so neither scores nor a mask of all tokens ever exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import scaled_dot_product_attention

from stratagem.learn.tree_batch import BranchPath, TreeBatch, branch_paths

QUERIES = 256
"""Queries of a branch that are computed at once: in fp32 their scores with 8,192 keys take 8 MiB a head."""
Columns = slice | torch.Tensor
"""Some columns of a row; those that follow each other are a slice, which copies nothing."""


class SparseMask(Protocol):
    """Attention mask of token trees that is no table of tokens and tokens."""

    def attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float, window: int | None
    ) -> torch.Tensor:
        """Return the attention [R, heads, Q, size] of queries over keys and values [R, key heads, W, size].

        A window is counted by depth.
        """
        ...

    def of_queries(self, columns: torch.Tensor) -> SparseMask:
        """Return the mask of these columns [R, Q] as queries."""
        ...


class QueryBlock(NamedTuple):
    """Some queries of one branch, and the keys that they see."""

    row: int
    queries: Columns
    keys: Columns
    depths: torch.Tensor
    """Depth of each query."""
    first: int
    """Depth of the first key; those after it are one deeper each."""
    causal: bool
    """True where the queries are the keys, without a window: no mask is needed."""

    def mask(self, window: int | None) -> torch.Tensor | None:
        """Return which keys each query sees, [Q, K]; None where no mask is needed."""
        if self.causal:
            return None
        depths = self.depths[:, None]
        number = self.keys.stop - self.keys.start if isinstance(self.keys, slice) else len(self.keys)
        keys = torch.arange(self.first, self.first + number, device=depths.device)
        seen = keys <= depths
        return seen if window is None else seen & (depths - keys < window)


@dataclass(frozen=True)
class BranchMask:
    """Mask of a tree batch, by the paths of its branches."""

    batch: TreeBatch
    device: torch.device
    columns: torch.Tensor | None = None
    """Columns of the queries of each row, [R, Q]; None is all of them."""
    _blocks: dict[int | None, list[QueryBlock]] = field(default_factory=dict, repr=False, compare=False)

    def of_queries(self, columns: torch.Tensor) -> BranchMask:
        """Return the mask of these columns [R, Q] as queries."""
        return replace(self, columns=columns.cpu(), _blocks={})

    def attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float, window: int | None
    ) -> torch.Tensor:
        """Return the attention of queries over keys and values; that of padding is 0."""
        result: torch.Tensor = _BranchAttention.apply(queries, keys, values, self.blocks(window), scale, window)  # type: ignore[no-untyped-call]
        return result

    def blocks(self, window: int | None) -> list[QueryBlock]:
        """Return the blocks of queries of all rows."""
        if window not in self._blocks:
            self._blocks[window] = [
                block
                for row, branches in enumerate(self.batch.rows)
                for path in branch_paths(branches)
                for block in self._of_branch(row, path, window)
            ]
        return self._blocks[window]

    def _of_branch(self, row: int, path: BranchPath, window: int | None) -> Iterator[QueryBlock]:
        branch = path.branch
        if self.columns is None:
            own = torch.arange(path.start, path.start + branch.size)
            places: torch.Tensor | None = None
        else:
            every = self.columns[row]
            places = ((every >= path.start) & (every < path.start + branch.size)).nonzero()[:, 0]
            places = places[every[places].argsort(stable=True)]
            own = every[places]
        causal = places is None and window is None and not branch.depth
        size = max(1, len(own)) if causal else QUERIES
        for at in range(0, len(own), size):
            depths = own[at : at + size] - path.start + branch.depth
            least, most = int(depths[0]), int(depths[-1])
            first = 0 if window is None else max(0, least - window + 1)
            queries = (
                slice(path.start + at, path.start + at + len(depths)) if places is None else places[at : at + size]
            )
            yield QueryBlock(
                row,
                queries if isinstance(queries, slice) else queries.to(self.device),
                _columns(path.columns[first : most + 1], self.device),
                depths.to(self.device),
                first,
                causal,
            )


def _columns(columns: torch.Tensor, device: torch.device) -> Columns:
    first, last = int(columns[0]), int(columns[-1])
    follow = last - first == len(columns) - 1  # they ascend, so nothing lies between
    return slice(first, last + 1) if follow else columns.to(device)


class _BranchAttention(torch.autograd.Function):
    """Attention block by block, which is computed again in the backward pass; gradients of keys add up in fp32."""

    @staticmethod
    def forward(
        ctx: Any,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        blocks: Sequence[QueryBlock],
        scale: float,
        window: int | None,
    ) -> torch.Tensor:
        ctx.save_for_backward(queries, keys, values)
        ctx.given = blocks, scale, window
        result = queries.new_zeros(*queries.shape[:3], values.shape[-1])
        for block in blocks:
            own = _attend(block, _parts(block, queries, keys, values), scale, window)
            result[block.row][:, block.queries] = own[0]
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> tuple[Any, ...]:
        tensors, (blocks, scale, window) = ctx.saved_tensors, ctx.given
        totals = [torch.zeros_like(each, dtype=torch.promote_types(each.dtype, torch.float32)) for each in tensors]
        for block in blocks:
            parts = [part.detach().requires_grad_() for part in _parts(block, *tensors)]
            with torch.enable_grad():
                result = _attend(block, parts, scale, window)
            found = torch.autograd.grad(result, parts, given[block.row : block.row + 1, :, block.queries])
            for total, columns, own in zip(totals, (block.queries, block.keys, block.keys), found, strict=True):
                total[block.row][:, columns] += own[0]
        return *(total.to(each.dtype) for total, each in zip(totals, tensors, strict=True)), None, None, None


def _parts(
    block: QueryBlock, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the queries of a block, and its keys and values."""
    row = slice(block.row, block.row + 1)
    return queries[row, :, block.queries], keys[row, :, block.keys], values[row, :, block.keys]


def _attend(block: QueryBlock, parts: Sequence[torch.Tensor], scale: float, window: int | None) -> torch.Tensor:
    queries, keys, values = parts
    groups = queries.shape[1] // keys.shape[1]
    return scaled_dot_product_attention(
        queries,
        repeat_heads(keys, groups),
        repeat_heads(values, groups),
        attn_mask=block.mask(window),
        is_causal=block.causal,
        scale=scale,
    )


def repeat_heads(x: torch.Tensor, groups: int) -> torch.Tensor:
    """Repeat each key head for the query heads of its group."""
    return x if groups == 1 else x.repeat_interleave(groups, dim=1)
