"""Shared-prefix batch: one forward pass over the common prefix of a pack, then one over the rest of each text.

A token of a row attends to the prefix and to its own row, so attention costs the width of a row and not that of the
whole tree. The keys and values of the prefix keep their gradients. Tokens that only some of the texts share are
repeated in each of them; `tree_batch` is cheaper where there are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from stratagem.learning.packing import Branch, Pack
from stratagem.learning.tree_batch import TreeBatch
from stratagem.models.attention import Attention

_TOKEN_COST = 768
"""Cost of a token without attention, in attended tokens."""
_PASS_COST = 64
"""Fixed cost of a forward pass, in tokens."""


@dataclass(frozen=True)
class PrefixBatch:
    """Common prefix of some texts, and the rest of each text."""

    prefix: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    """Rest of each text."""
    indices: torch.Tensor
    """Index of each token of the pack in the prefix followed by the flattened rows, [L]."""

    @property
    def width(self) -> int:
        """Length of the longest row."""
        return max(map(len, self.rows))

    @property
    def cost(self) -> int:
        """Estimated cost of the two passes, in attended tokens."""
        depth, cells = len(self.prefix), len(self.rows) * self.width
        return _cost(depth, depth) + _cost(cells, depth + self.width)


def tree_batch_cost(rows: TreeBatch) -> int:
    """Estimate the cost of a tree batch, in the same unit."""
    return _cost(len(rows.rows) * rows.width, rows.width)


def _cost(tokens: int, attended: int) -> int:
    """Estimate the cost of a pass over tokens that each attend to a number of others."""
    return tokens * (attended + _TOKEN_COST) + _PASS_COST * _TOKEN_COST


def prefix_batch(pack: Pack) -> PrefixBatch | None:
    """Split a pack into its common prefix and the rest; None where it is no single tree of several branches."""
    root, *others = pack.branches
    if not others or any(not branch.above for branch in others):
        return None
    depth = min(branch.depth for branch in others)
    ends = [branch for branch in pack.branches if branch.depth + branch.size > depth]
    rows = tuple(_rest(pack, branch, depth) for branch in ends)
    width = max(map(len, rows))
    indices = torch.zeros(len(pack.tokens), dtype=torch.long)
    indices[: root.size] = torch.arange(root.size)
    for number, branch in enumerate(ends):
        start = max(depth, branch.depth)
        own = torch.arange(start, branch.depth + branch.size)
        indices[branch.start + start - branch.depth : branch.end] = own + number * width
    return PrefixBatch(tuple(pack.tokens[:depth]), rows, indices)


def _rest(pack: Pack, branch: Branch, depth: int) -> tuple[int, ...]:
    """Return the tokens of a branch's text after the prefix."""
    path = [*((pack.branches[number], end) for number, end in branch.above), (branch, branch.depth + branch.size)]
    pieces = [pack.tokens[b.start + max(0, depth - b.depth) : b.start + end - b.depth] for b, end in path]
    return tuple(token for piece in pieces for token in piece)


def read_prefix_batch(decoder: Any, attention: Attention, batch: PrefixBatch, model: Any) -> torch.Tensor:
    """Compute the last hidden states of the pack's tokens, [L, H]."""
    depth, width, device = len(batch.prefix), batch.width, model.device
    layers: list[CacheLayerMixin] = [_Layer() for _ in range(model.config.get_text_config().num_hidden_layers)]
    ids = [torch.tensor([batch.prefix]), torch.tensor([(*row, *(0,) * (width - len(row))) for row in batch.rows])]
    states = []
    for tokens, start, end in zip(ids, (0, depth), (depth, depth + width), strict=True):
        at = torch.arange(start, end, device=device)[None]
        output = decoder(
            input_ids=tokens.to(device),
            position_ids=at,
            attention_mask=attention.mask(at, end, model.dtype),
            past_key_values=Cache(layers=list(layers)),
            use_cache=True,
        )
        states.append(output.last_hidden_state.flatten(0, 1))
    return torch.cat(states)[batch.indices.to(device)]


class _Layer(CacheLayerMixin):
    """Key-value cache of one layer that stays in the autograd graph: every row continues from the prefix."""

    def __init__(self) -> None:
        self.keys = self.values = None
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
                torch.cat([prefix.expand(len(own), -1, -1, -1), own], dim=2)
                for prefix, own in zip(self._prefix, new, strict=True)
            )
            return keys, values
        self._prefix, self._width = new, key_states.shape[2]
        return new

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._width + query_length, 0

    def get_seq_length(self) -> int:
        return self._width

    def get_max_length(self) -> int:
        return -1

    def get_max_cache_shape(self) -> int:
        return -1
