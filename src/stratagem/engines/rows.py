"""Sequences side by side in one forward pass: each row has its own keys and values, a column a token.

A token's column is its position, so a mask that compares columns with positions is right for rows of any length, with
or without a window, and nothing is ever shifted: a row may take one token while its neighbour takes ten. What a row
does not use in a pass goes to a last column that no position sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache, CacheLayerMixin, DynamicCache

from stratagem.models.attention import Attention

_SLICE = 256
"""Number of tokens of a row in one pass; longer ones take several."""
_SPARE = 32
"""Columns beyond the longest row, so that a growing reply seldom needs a larger store."""
_ROWS, _COLUMNS = 2, 4
"""The axes of the store, after layers and before heads and numbers."""


class Uneven(Exception):
    """Layer whose keys and values have other shapes than it had for one token, so the store cannot hold them."""


Shape = tuple[int, int]
"""Number of heads, and numbers per head, of the keys and values of a layer."""
Stretch = tuple[torch.Tensor, ...]
"""Keys and values of some tokens of one text, by group of layers: layers, keys or values, heads, columns, numbers."""


def cache_shapes(model: Any) -> list[Shape | None]:
    """Return the shape of each layer's cache, by a pass over one token with transformers' own cache.

    It is None for a layer that has no keys and values of its own.
    """
    cache = DynamicCache(config=model.config.get_text_config())
    model(input_ids=torch.zeros((1, 1), dtype=torch.long, device=model.device), past_key_values=cache, use_cache=True)
    keys = [getattr(layer, "keys", None) for layer in cache.layers]
    return [None if tensor is None else (int(tensor.shape[1]), int(tensor.shape[3])) for tensor in keys]


class RowStore:
    """Keys and values of all layers.

    Layers of one shape are one tensor: layers, keys or values, rows, heads, columns, numbers.
    """

    def __init__(self, shapes: Sequence[Shape | None]) -> None:
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
        self.first = self.rows = 0
        """First row of the present pass, and number of rows."""
        self.write: tuple[torch.Tensor, torch.Tensor] | None = None
        self.width = 0

    def reserve(self, rows: int, columns: int) -> None:
        """Make room for rows and columns; existing content stays."""
        held_rows, held_columns = self.room
        if rows <= held_rows and columns < held_columns:
            return
        wider = columns + columns // 4 + 1 + _SPARE
        self.room = (max(rows, held_rows), held_columns if columns < held_columns else wider)
        if self.data:
            self._make(self.data[0])

    def _make(self, like: torch.Tensor) -> None:
        """Allocate zeros, since masked columns are still multiplied by zero."""
        before, (rows, columns) = self.data, self.room
        self.data = [
            torch.zeros((count, 2, rows, heads, columns, size), dtype=like.dtype, device=like.device)
            for count, (heads, size) in zip(self.sizes, self.groups, strict=True)
        ]
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


class _Layer(CacheLayerMixin):
    """Layer of the store in transformers' interface."""

    def __init__(self, store: RowStore, number: int) -> None:
        self.keys = self.values = None
        self._store = store
        self._number = number
        self.is_initialized = True

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


class Rows:
    """The rows of a batch: their lengths, and passes that make them longer."""

    def __init__(self, attention: Attention, shapes: Sequence[Shape | None]) -> None:
        self.attention = attention
        self.store = RowStore(shapes)
        self.cache = Cache(layers=[_Layer(self.store, number) for number in range(len(shapes))])
        self.lengths: list[int] = []
        self.parked: list[int] = []
        """Lengths of the rows that are set aside; they come before the others."""

    def park(self) -> None:
        """Set all rows aside, so that others can begin; these stay in their places."""
        self.parked, self.lengths = self.lengths, []

    def unpark(self) -> None:
        """Put the rows that were set aside before the present ones."""
        self.parked, self.lengths = [], [*self.parked, *self.lengths]

    def clear(self) -> None:
        """Drop all rows."""
        self.parked, self.lengths = [], []

    def cut(self, row: int, start: int, end: int) -> Stretch:
        """Copy a stretch of one row, all layers."""
        return self.store.cut(len(self.parked) + row, start, end)

    def paste(self, stretch: Stretch, rows: Sequence[int], start: int, end: int) -> None:
        """Paste the beginning of a stretch into columns of one or more rows."""
        self.store.paste(stretch, [len(self.parked) + row for row in rows], start, end)

    def reset(self) -> None:
        """Free the store: the layout of memory depends on its size, and the rounding of sums may depend on that."""
        self.store.data, self.store.room = [], (0, 0)

    def begin(self, lengths: Sequence[int], room: int) -> None:
        """Begin rows of these lengths, whose contents are then pasted; `room` columns will be needed."""
        self.lengths = list(lengths)
        self.store.reserve(len(self.parked) + len(self.lengths), max(room, *self.parked, 0))

    def advance(self, model: Any, pending: Sequence[Sequence[int]], **options: Any) -> torch.Tensor:
        """Read each row's pending tokens, none or more, and return the logits after the last one of each row."""
        done: torch.Tensor | None = None
        for start in range(0, max(map(len, pending)), _SLICE):
            slices = [row[start : start + _SLICE] for row in pending]
            logits = self._pass(model, slices, options)
            if done is None:
                done = logits
            else:
                touched = [number for number, row in enumerate(slices) if row]
                done[touched] = logits[touched]
        assert done is not None
        return done

    def _pass(self, model: Any, pending: Sequence[Sequence[int]], options: dict[str, Any]) -> torch.Tensor:
        """Run one pass; tokens are right-aligned, so that the last column of every row is its last token."""
        width = max(map(len, pending))
        after = [length + len(row) for length, row in zip(self.lengths, pending, strict=True)]
        first = len(self.parked)
        self.store.reserve(first + len(after), max(*after, *self.parked, 0))
        unseen = self.store.room[1] - 1
        ids, positions, columns = [], [], []
        for row, length, end in zip(pending, self.lengths, after, strict=True):
            idle = width - len(row)
            ids.append([0] * idle + list(row))
            positions.append([0] * idle + list(range(length, end)))
            columns.append([unseen] * idle + list(range(length, end)))
        device = model.device
        at = torch.tensor(positions, device=device)
        self.lengths, self.store.width = after, max(after)
        self.store.first, self.store.rows = first, len(after)
        row_numbers = torch.arange(first, first + len(after), device=device)[:, None]
        self.store.write = (row_numbers, torch.tensor(columns, device=device))
        output = model(
            input_ids=torch.tensor(ids, device=device),
            position_ids=at,
            attention_mask=self.attention.mask(at, self.store.width, model.dtype),
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
            **options,
        )
        logits: torch.Tensor = output.logits[:, -1]
        return logits

    def keep(self, rows: Sequence[int]) -> list[int]:
        """Drop the other rows and return the old row at each index; only few rows are moved."""
        rows_left = set(rows)
        order = [row if row in rows_left else -1 for row in range(len(rows_left))]
        movers = iter(sorted(row for row in rows_left if row >= len(rows_left)))
        holes = [index for index, row in enumerate(order) if row < 0]
        for hole in holes:
            order[hole] = next(movers)
        if holes:
            self.store.move([order[hole] for hole in holes], holes, max(self.lengths))
        self.lengths = [self.lengths[row] for row in order]
        return order
