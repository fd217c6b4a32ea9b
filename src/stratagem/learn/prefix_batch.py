"""Shared-prefix batch: one forward pass over the common prefix of each tree, then one over the rest of each text.

A token of a row attends to the prefix of its tree and to its own row, so attention costs the width of a row and not
that of the whole tree. The prefixes are plain causal sequences, which need no mask. Their keys and values keep their
gradients. Tokens that only some of the texts share are repeated in each of them; `tree_batch` is cheaper where there
are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from transformers.cache_utils import CacheLayerMixin

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.models.attention import Attention
from stratagem.learn.decoder_pass import DecoderPass, TokenRows
from stratagem.learn.packing import Pack, TextBranch


@dataclass(frozen=True)
class PrefixBatch:
    """Common prefix of the texts of each tree, and the rest of each text."""

    prefixes: tuple[Ids, ...]
    """Common prefix of each tree."""
    rows: tuple[Ids, ...]
    """Rest of each text, tree after tree; a text without a rest has no row."""
    trees: tuple[int, ...]
    """Index of the tree of each row."""
    indices: torch.Tensor
    """Index of each token of the pack in the flattened prefixes followed by the flattened rows, [L]."""

    @property
    def depth(self) -> int:
        """Length of the longest prefix."""
        return max(map(len, self.prefixes))

    @property
    def width(self) -> int:
        """Length of the longest row; 0 without rows."""
        return max(map(len, self.rows), default=0)

    @cached_property
    def depths(self) -> torch.Tensor:
        """Length of the prefix of each row, [R], or of all rows, [1]."""
        depths = [len(self.prefixes[tree]) for tree in self.trees]
        return torch.tensor(depths if len(set(depths)) > 1 else depths[:1])


def common_depth(tree: Sequence[TextBranch]) -> int:
    """Return the length of the common prefix of the texts of a tree."""
    return min((branch.depth for branch in tree[1:]), default=tree[0].size)


def prefix_batch(pack: Pack) -> PrefixBatch | None:
    """Split each tree of a pack into its common prefix and the rest; None where no two texts share anything."""
    trees = list(pack.trees)
    if len(trees) == len(pack.branches):
        return None
    depths = [common_depth(tree) for tree in trees]
    ends = [(number, branch) for number, tree in enumerate(trees) for branch in tree if branch.reach > depths[number]]
    texts = _texts(pack)
    rows = tuple(texts[branch][depths[number] :] for number, branch in ends)
    depth, width = max(depths), max(map(len, rows))
    indices = torch.zeros(len(pack.tokens), dtype=torch.long)
    for number, tree in enumerate(trees):
        root = tree[0]
        indices[root.start : root.start + depths[number]] = torch.arange(depths[number]) + number * depth
    for row, (number, branch) in enumerate(ends):
        first = max(depths[number], branch.depth)
        column = len(trees) * depth + row * width - depths[number]
        indices[branch.start + first - branch.depth : branch.end] = torch.arange(first, branch.reach) + column
    prefixes = tuple(pack.tokens[tree[0].start : tree[0].start + d] for tree, d in zip(trees, depths, strict=True))
    return PrefixBatch(prefixes, rows, tuple(number for number, _ in ends), indices)


def _texts(pack: Pack) -> dict[TextBranch, Ids]:
    """Return the whole text that ends with each branch."""
    texts, before = dict[TextBranch, Ids](), Ids()
    for branch in pack.branches:
        before = texts[branch] = before[: branch.depth] + pack.tokens[branch.start : branch.end]
    return texts


def read_prefix_batch(
    decoder: DecoderPass, attention: Attention, batch: PrefixBatch, nodes: torch.Tensor, model: Any
) -> torch.Tensor:
    """Compute the last hidden states of some of the pack's tokens, [N, H]."""
    trees = torch.tensor(batch.trees, device=model.device)
    layers: list[CacheLayerMixin] = [_Layer(trees) for _ in range(model.config.get_text_config().num_hidden_layers)]
    prefixes = TokenRows(pad_rows(batch.prefixes).to(model.device))
    cells, size = batch.indices[nodes].to(model.device), prefixes.ids.numel()
    of_prefix = cells < size
    states = [decoder(prefixes, cells[of_prefix], layers)]
    if batch.rows:
        states.append(decoder(_rest(attention, batch, model), cells[~of_prefix] - size, layers))
    order = torch.cat([of_prefix.nonzero(), (~of_prefix).nonzero()])[:, 0]
    return torch.cat(states)[torch.argsort(order)]


def _rest(attention: Attention, batch: PrefixBatch, model: Any) -> TokenRows:
    """Return the rows after the prefixes: each token attends to its prefix and to its row up to itself."""
    depths = batch.depths.to(model.device)[:, None]
    own = torch.arange(batch.width, device=model.device)[None]
    before = torch.arange(batch.depth, device=model.device)[None].expand(len(depths), -1)
    columns = torch.cat([before, depths + own], dim=1)
    seen = torch.cat([before < depths, torch.ones_like(depths + own, dtype=torch.bool)], dim=1)[:, None, :]
    positions = depths + own
    mask = attention.mask_between(
        seen & (columns[:, None, :] <= positions[:, :, None]), positions, columns, model.dtype
    )
    return TokenRows(pad_rows(batch.rows).to(model.device), positions, mask)


def pad_rows(rows: Sequence[Ids]) -> torch.Tensor:
    """Return rows of token ids, padded on the right."""
    width = max(map(len, rows))
    # any id would do, since no token attends to what stands behind it
    return torch.tensor([(*row, *(0,) * (width - len(row))) for row in rows])


class _Layer(CacheLayerMixin):
    """Key-value cache of one layer that stays in the autograd graph: each row continues from the prefix of its tree."""

    def __init__(self, trees: torch.Tensor) -> None:
        self.keys = self.values = None
        self._trees = trees
        self._prefix: Sequence[torch.Tensor] = ()
        self._width = 0
        self.is_initialized = True

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Do nothing: the first update initializes the layer."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        new = (key_states, value_states)
        if self._prefix:
            keys, values = (
                torch.cat([self._of_rows(prefix), own], dim=2) for prefix, own in zip(self._prefix, new, strict=True)
            )
            return keys, values
        self._prefix, self._width = new, key_states.shape[2]
        return new

    def _of_rows(self, prefix: torch.Tensor) -> torch.Tensor:
        """Return the prefix of each row."""
        if len(prefix) == 1:
            return prefix.expand(len(self._trees), -1, -1, -1)
        return prefix.index_select(0, self._trees)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._width + query_length, 0

    def get_seq_length(self) -> int:
        return self._width

    def get_max_length(self) -> int:
        return -1

    def get_max_cache_shape(self) -> int:
        return -1
