"""A pack whose texts begin alike, read in two passes: what all have in common once, then the rest of each in a row.

A token of a row sees the trunk and what is before it in its row, so attention costs the width of a row and not that of
the whole tree. The trunk's keys and values are handed on with their gradients. What only some of the texts have in
common is read for each of them, so this is for bushes, and `grid` for trees with boughs.
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

_READ = 768
"""Reading a token costs about as much as letting it attend to so many others."""
_PASS = 64
"""A pass costs about as much as reading so many tokens more."""


@dataclass(frozen=True)
class PrefixBatch:
    """A trunk, and what grows from it."""

    trunk: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    """The rest of each text."""
    places: torch.Tensor
    """Where each token of the pack's list stands, [L]: in the trunk, or behind it in the rows taken end to end."""

    @property
    def width(self) -> int:
        """Of the longest row."""
        return max(map(len, self.rows))

    @property
    def cost(self) -> int:
        """What it costs to read, in pairs of tokens that attend."""
        depth, cells = len(self.trunk), len(self.rows) * self.width
        return _cost(depth, depth) + _cost(cells, depth + self.width)


def tree_batch_cost(rows: TreeBatch) -> int:
    """What a grid costs to read, in the same unit."""
    return _cost(len(rows.rows) * rows.width, rows.width)


def _cost(tokens: int, seen: int) -> int:
    """Of a pass over tokens that each attend to so many."""
    return tokens * (seen + _READ) + _PASS * _READ


def prefix_batch(pack: Pack) -> PrefixBatch | None:
    """The pack as a bush; None where it is no single tree of several branches."""
    root, *others = pack.branches
    if not others or any(not branch.above for branch in others):
        return None
    depth = min(branch.depth for branch in others)
    ends = [branch for branch in pack.branches if branch.depth + branch.size > depth]
    rows = tuple(_rest(pack, branch, depth) for branch in ends)
    width = max(map(len, rows))
    places = torch.zeros(len(pack.tokens), dtype=torch.long)
    places[: root.size] = torch.arange(root.size)
    for number, branch in enumerate(ends):
        start = max(depth, branch.depth)
        own = torch.arange(start, branch.depth + branch.size)
        places[branch.start + start - branch.depth : branch.end] = own + number * width
    return PrefixBatch(tuple(pack.tokens[:depth]), rows, places)


def _rest(pack: Pack, branch: Branch, depth: int) -> tuple[int, ...]:
    """The tokens of a branch's text behind the trunk."""
    path = [*((pack.branches[number], end) for number, end in branch.above), (branch, branch.depth + branch.size)]
    pieces = [pack.tokens[b.start + max(0, depth - b.depth) : b.start + end - b.depth] for b, end in path]
    return tuple(token for piece in pieces for token in piece)


def read_prefix_batch(decoder: Any, attention: Attention, bush: PrefixBatch, model: Any) -> torch.Tensor:
    """The last hidden states of the pack's tokens, [L, H]."""
    depth, width, device = len(bush.trunk), bush.width, model.device
    layers: list[CacheLayerMixin] = [_Layer() for _ in range(model.config.get_text_config().num_hidden_layers)]
    ids = [torch.tensor([bush.trunk]), torch.tensor([(*row, *(0,) * (width - len(row))) for row in bush.rows])]
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
    return torch.cat(states)[bush.places.to(device)]


class _Layer(CacheLayerMixin):
    """A layer's keys and values of the trunk, which every row goes on from; they stay in the graph."""

    def __init__(self) -> None:
        self.keys = self.values = None
        self._kept: Sequence[torch.Tensor] = ()
        self._width = 0
        self.is_initialized = True

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Nothing is left to do."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        new = (key_states, value_states)
        if self._kept:
            keys, values = (
                torch.cat([kept.expand(len(one), -1, -1, -1), one], dim=2)
                for kept, one in zip(self._kept, new, strict=True)
            )
            return keys, values
        self._kept, self._width = new, key_states.shape[2]
        return new

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._width + query_length, 0

    def get_seq_length(self) -> int:
        return self._width

    def get_max_length(self) -> int:
        return -1

    def get_max_cache_shape(self) -> int:
        return -1
