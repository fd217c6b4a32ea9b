"""Keys and values of sequences side by side: each row has its own, a column a token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from stratagem.language.models.standalone import StandaloneLlama

_SPARE = 32
"""Columns beyond the longest row, so that a growing reply seldom needs a larger store."""
_MOST_KEPT = 4
"""Number of allocations that are kept."""
_ROWS, _COLUMNS = 2, 4
"""The axes of the store, after layers and before heads and numbers."""


def allocated_columns(columns: int) -> int:
    """Return the number of columns of a store that must have room for so many."""
    return columns + columns // 4 + 1 + _SPARE


class Uneven(Exception):
    """Layer whose keys and values have other shapes than it had for one token, so the store cannot hold them."""


class Blocks(NamedTuple):
    """Numbers of which rows and columns are multiples, so that few shapes occur."""

    rows: int
    columns: int

    def room(self, rows: int, columns: int) -> tuple[int, int]:
        """Return at least these rows and columns, in whole blocks."""
        return -(-rows // self.rows) * self.rows, -(-columns // self.columns) * self.columns


SINGLE = Blocks(1, 1)
Shape = tuple[int, int]
"""Number of heads, and numbers per head, of the keys and values of a layer."""
Stretch = tuple[torch.Tensor, ...]
"""Keys and values of some tokens of one text, by group of layers: layers, keys or values, heads, columns, numbers."""


def cache_shapes(model: Any) -> list[Shape | None]:
    """Return the shape of each layer's cache, by a pass over one token with transformers' own cache.

    It is None for a layer that has no keys and values of its own. A model without transformers says it itself.
    """
    if isinstance(model, StandaloneLlama):
        config = model.config
        return [(config.num_key_value_heads, config.head_dim)] * config.num_hidden_layers
    from transformers import DynamicCache

    cache = DynamicCache(config=model.config.get_text_config())
    model(input_ids=torch.zeros((1, 1), dtype=torch.long, device=model.device), past_key_values=cache, use_cache=True)
    keys = [getattr(layer, "keys", None) for layer in cache.layers]
    return [None if tensor is None else (int(tensor.shape[1]), int(tensor.shape[3])) for tensor in keys]


class RowStore:
    """Keys and values of all layers.

    Layers of one shape are one tensor: layers, keys or values, rows, heads, columns, numbers.
    """

    def __init__(self, shapes: Sequence[Shape | None], blocks: Blocks = SINGLE) -> None:
        self.blocks = blocks
        self.groups = [shape for shape in dict.fromkeys(shapes) if shape is not None]
        self.sizes = [shapes.count(shape) for shape in self.groups]
        self.places = {
            number: (self.groups.index(shape), shapes[:number].count(shape))
            for number, shape in enumerate(shapes)
            if shape is not None
        }
        """Group of each layer, and its index in the group."""
        self.data: list[torch.Tensor] = []
        self.room = (0, 0)
        self.allocation = self._made = 0
        """Number of the present allocation; it is another one where the store was moved in memory."""
        self.keep = False
        """True to keep allocations that are left, and to take one of the same room again, for graphs that read it."""
        self.spares: dict[tuple[int, int], tuple[int, list[torch.Tensor]]] = {}
        """Numbers and tensors of the allocations that were left, by their room."""
        self.first = self.rows = 0
        """First row of the present pass, and number of rows."""
        self.write: tuple[torch.Tensor, torch.Tensor] | None = None
        self.width = 0

    def reserve(self, rows: int, columns: int) -> None:
        """Make room for rows and columns; existing content stays."""
        held_rows, held_columns = self.room
        if rows <= held_rows and columns < held_columns:
            return
        wider = held_columns if columns < held_columns else allocated_columns(columns)
        self.room = self.blocks.room(max(rows, held_rows), wider)
        if self.data:
            self._make(self.data[0])

    def free(self) -> None:
        """Free the memory, or keep it for the same room; content is lost."""
        self._leave()
        self.data, self.room = [], (0, 0)
        self._number()

    def _leave(self) -> None:
        """Keep the present allocation, if any is kept; the one that was left longest ago is freed."""
        if self.keep and self.data:
            shape = self.data[0].shape
            self.spares[int(shape[_ROWS]), int(shape[_COLUMNS])] = (self.allocation, self.data)
            if len(self.spares) > _MOST_KEPT:
                del self.spares[next(iter(self.spares))]

    def _number(self) -> None:
        """Number a new allocation."""
        self._made += 1
        self.allocation = self._made

    def width_for(self, columns: int) -> int:
        """Return the number of columns that a pass reads, in whole blocks."""
        return min(self.blocks.room(1, columns)[1], self.room[1])

    def _make(self, like: torch.Tensor) -> None:
        """Allocate zeros, since masked columns are still multiplied by zero."""
        before, (rows, columns) = self.data, self.room
        self._leave()
        if self.room in self.spares:
            self.allocation, self.data = self.spares.pop(self.room)
            for data in self.data:
                data.zero_()
            self._take(before)
            return
        self._number()
        self.data = [
            torch.zeros((count, 2, rows, heads, columns, size), dtype=like.dtype, device=like.device)
            for count, (heads, size) in zip(self.sizes, self.groups, strict=True)
        ]
        self._take(before)

    def _take(self, before: Sequence[torch.Tensor]) -> None:
        """Copy the content of an allocation that was smaller."""
        for new, old in zip(self.data, before, strict=False):
            new[:, :, : old.shape[_ROWS], :, : old.shape[_COLUMNS]] = old

    def update(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Write a layer's new keys and values where each row has its columns, and return all of them."""
        if not self.data:
            self._make(keys)
        assert self.write is not None
        if layer not in self.places:
            raise Uneven
        group, number = self.places[layer]
        own = self.data[group][number]
        if keys.shape != values.shape or keys.shape[1::2] != own.shape[2::2]:
            raise Uneven
        rows, columns = self.write
        own[0][rows, :, columns] = keys.transpose(1, 2)
        own[1][rows, :, columns] = values.transpose(1, 2)
        some = slice(self.first, self.first + self.rows)
        return own[0, some, :, : self.width], own[1, some, :, : self.width]

    def cut(self, row: int, start: int, end: int) -> Stretch:
        """Copy a stretch of one row, all layers."""
        return tuple(data[:, :, row, :, start:end].clone() for data in self.data)

    def cut_columns(self, row: int, columns: Sequence[int]) -> Stretch:
        """Copy some columns of one row, all layers."""
        return tuple(data[:, :, row, :, list(columns)] for data in self.data)

    def paste(self, stretch: Stretch, rows: Sequence[int], start: int, end: int) -> None:
        """Paste the beginning of a stretch into columns of one or more rows."""
        if not self.data:
            self._make(stretch[0])
        first, last = rows[0], rows[-1]
        for data, piece in zip(self.data, stretch, strict=True):
            new = piece[:, :, None, :, : end - start]
            if last - first + 1 == len(rows):
                data[:, :, first : last + 1, :, start:end] = new
            else:
                data[:, :, list(rows), :, start:end] = new

    def move(self, sources: Sequence[int], targets: Sequence[int], width: int) -> None:
        """Copy whole rows onto others."""
        for data in self.data:
            data[:, :, list(targets), :, :width] = data[:, :, list(sources), :, :width]

    def shift(self, rows: Sequence[int], sources: Sequence[int], targets: Sequence[int]) -> None:
        """Copy columns of some rows onto other columns of the same rows."""
        for data in self.data:
            data[:, :, list(rows), :, list(targets)] = data[:, :, list(rows), :, list(sources)]


class StoreLayer:
    """Layer of the store in the interface of transformers' `CacheLayerMixin`, which is not imported for this."""

    is_compileable = False
    is_sliding = False
    is_initialized = True

    def __init__(self, store: RowStore, number: int) -> None:
        self.keys = self.values = None
        self._store = store
        self._number = number

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Do nothing: the store is allocated already."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return self._store.update(self._number, key_states, value_states)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._store.width, 0

    def get_seq_length(self) -> int:
        return self._store.width

    def get_max_length(self) -> int:
        return -1


class StoreCache(NamedTuple):
    """Layers of the store, as a forward pass takes them."""

    layers: list[StoreLayer]
