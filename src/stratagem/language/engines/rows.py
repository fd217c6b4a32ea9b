"""Sequences side by side in one forward pass: each row has its own keys and values, a column a token.

A token's column is its position, so a mask that compares columns with positions is right for rows of any length, with
or without a window, and nothing is ever shifted: a row may take one token while its neighbour takes ten. What a row
does not use in a pass goes to a last column that no position sees.

A row may also read branches, of which at most one is taken. Each of their tokens has a column of its own after the
row's, sees the tokens on the way to it, and has the position of its depth; the columns of the branch that is taken then
move to their positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from stratagem.language.engines.branches import NONE, Branches
from stratagem.language.engines.row_store import SINGLE, Blocks, RowStore, Shape, StoreCache, StoreLayer, Stretch
from stratagem.language.engines.steps import ForwardPass, WantedLogits
from stratagem.language.models.attention import Attention

_SLICE = 256
"""Number of tokens of a row in one pass; longer ones take several."""


class BatchRows:
    """The rows of a batch: their lengths, and passes that make them longer."""

    def __init__(self, attention: Attention, shapes: Sequence[Shape | None], blocks: Blocks = SINGLE) -> None:
        self.attention = attention
        self.store = RowStore(shapes, blocks)
        self.cache = StoreCache([StoreLayer(self.store, number) for number in range(len(shapes))])
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

    def cut_branch(self, row: int, tokens: Sequence[int]) -> Stretch:
        """Copy some tokens of the branches that a row has read, all layers."""
        return self.store.cut_columns(len(self.parked) + row, [self.lengths[row] + token for token in tokens])

    def paste(self, stretch: Stretch, rows: Sequence[int], start: int, end: int) -> None:
        """Paste the beginning of a stretch into columns of one or more rows."""
        self.store.paste(stretch, [len(self.parked) + row for row in rows], start, end)

    def reset(self) -> None:
        """Free the store: the layout of memory depends on its size, and the rounding of sums may depend on that."""
        self.store.free()

    def begin(self, lengths: Sequence[int], room: int) -> None:
        """Begin rows of these lengths, whose contents are then pasted; `room` columns will be needed."""
        self.lengths = list(lengths)
        self.store.reserve(len(self.parked) + len(self.lengths), max(room, *self.parked, 0))

    def advance(
        self, step: ForwardPass, pending: Sequence[Sequence[int]], branches: Sequence[Branches] = ()
    ) -> torch.Tensor:
        """Read each row's pending tokens, none or more, and return the logits after the last one of each row.

        After these come the logits that the branches ask for, row by row. A row with branches has pending tokens.
        """
        branches = branches or [NONE] * len(pending)
        done: torch.Tensor | None = None
        extra: list[torch.Tensor | None] = [None] * len(pending)
        for start in range(0, max(map(len, pending)), _SLICE):
            slices = [row[start : start + _SLICE] for row in pending]
            last = [start < len(row) <= start + _SLICE for row in pending]
            here = [own if ends else NONE for own, ends in zip(branches, last, strict=True)]
            sizes = [len(pending), *(len(own.asked) for own in here)]
            logits, *asked = torch.split(self._pass(step, slices, here), sizes)
            extra = [new if own.asked else old for old, new, own in zip(extra, asked, here, strict=True)]
            if done is None:
                done = logits
            else:
                touched = [number for number, row in enumerate(slices) if row]
                done[touched] = logits[touched]
        assert done is not None
        more = [logits for logits in extra if logits is not None]
        return torch.cat([done, *more]) if more else done

    def _pass(self, step: ForwardPass, pending: Sequence[Sequence[int]], branches: Sequence[Branches]) -> torch.Tensor:
        """Run one pass; tokens are right-aligned, so that the last column of every row is its last token."""
        sizes = [len(own) for own in branches]
        width = max(len(row) + size for row, size in zip(pending, sizes, strict=True))
        after = [length + len(row) for length, row in zip(self.lengths, pending, strict=True)]
        ends = [end + size for end, size in zip(after, sizes, strict=True)]
        first = len(self.parked)
        self.store.reserve(first + len(after), max(*ends, *self.parked, 0))
        unseen = self.store.room[1] - 1
        ids, positions, columns = [], [], []
        for row, own, length, end in zip(pending, branches, self.lengths, after, strict=True):
            idle = width - len(row) - len(own)
            ids.append([0] * idle + [*row, *own.tokens])
            positions.append([0] * idle + [*range(length, end), *(end - 1 + depth for depth in own.depths)])
            columns.append([unseen] * idle + list(range(length, end + len(own))))
        device = step.device
        at = torch.tensor(positions, device=device)
        self.lengths, self.store.width = after, self.store.width_for(max(ends))
        self.store.first, self.store.rows = first, len(after)
        row_numbers = torch.arange(first, first + len(after), device=device)[:, None]
        self.store.write = (row_numbers, torch.tensor(columns, device=device))
        mask = self._mask(at, branches, step.dtype)
        return step(torch.tensor(ids, device=device), at, mask, self.cache, _wanted_places(branches, width))

    def _mask(self, positions: torch.Tensor, branches: Sequence[Branches], dtype: torch.dtype) -> object:
        """Return the mask over the columns; within branches, a token sees the way to it, and distance is by depth."""
        behind = positions[:, None, :, None] - torch.arange(self.store.width, device=positions.device)
        seen = behind >= 0
        for row, own in enumerate(branches):
            if own:
                queries, columns = slice(-len(own), None), slice(self.lengths[row], self.lengths[row] + len(own))
                depths = torch.tensor(own.depths, device=positions.device)
                seen[row, 0, queries, columns] = own.visible_tokens().to(positions.device)
                behind[row, 0, queries, columns] = depths[:, None] - depths
        return self.attention.masks(seen, behind, dtype)

    def take(self, paths: Sequence[Sequence[int]]) -> None:
        """Make each row longer by a path through the branches that it has read; the other branches are dropped."""
        moves = [
            (len(self.parked) + row, self.lengths[row] + index, self.lengths[row] + place)
            for row, path in enumerate(paths)
            for place, index in enumerate(path)
            if place != index
        ]
        if moves:
            rows, sources, targets = zip(*moves, strict=True)
            self.store.shift(rows, sources, targets)
        self.lengths = [length + len(path) for length, path in zip(self.lengths, paths, strict=True)]

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


def _wanted_places(branches: Sequence[Branches], width: int) -> WantedLogits:
    """Return the places of the last pending token of each row, then of the tokens that branches ask for."""
    rows, columns = list(range(len(branches))), [width - len(own) - 1 for own in branches]
    for row, own in enumerate(branches):
        rows += [row] * len(own.asked)
        columns += [width - len(own) + index for index in own.asked]
    return WantedLogits(rows, columns)
