"""Tree attention: the token trees of a pack side by side in rows; a token attends to its ancestors alone.

Its position is its depth, so every example is read as if it stood alone. Trees that share nothing stand in rows of
their own, since attention costs the square of a row's width; small ones fill up the rows of large ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import torch

from stratagem.learn.packing import Pack, TextBranch

_FILLED = 0.8
"""Share of a batch that single texts must fill to stand in rows of their own, which need no mask."""


@dataclass(frozen=True)
class TreeBatch:
    """Rows of branches, padded to one width, with a tree attention mask."""

    rows: tuple[tuple[TextBranch, ...], ...]
    """Branches of each row, one after the other; those of a tree stand in their order."""
    width: int

    @property
    def plain(self) -> bool:
        """True where each row is one text, with texts that it begins with: the causal mask suffices."""
        return all(map(_is_chain, self.rows))

    def tokens(self, pack: Pack) -> torch.Tensor:
        """Return the token ids, [R, W]."""
        return self._place_values(torch.tensor(pack.tokens)[self._sources], 0)

    @cached_property
    def depths(self) -> torch.Tensor:
        """Position of every token, [R, W]."""
        return self._place_values(self._sources + self._each([b.depth - b.start for row in self.rows for b in row]), 0)

    @property
    def indices(self) -> torch.Tensor:
        """Index of each token of the pack in the flattened rows, [L]."""
        return torch.empty_like(self._cells).index_copy_(0, self._sources, self._cells)

    @property
    def mask(self) -> torch.Tensor:
        """Dense attention mask [R, W, W]: a token attends to its ancestors and itself, padding to itself."""
        columns = torch.arange(self.width)
        return (columns <= columns[:, None]) & (columns[:, None] < self.ends[:, None, :])

    @cached_property
    def ends(self) -> torch.Tensor:
        """Column behind the last descendant of each token, [R, W]; descendants follow a token without a gap."""
        ends = torch.arange(1, self.width + 1).repeat(len(self.rows), 1)
        for number, row in enumerate(self.rows):
            for path in branch_paths(row):
                ends[number, path.columns] = path.start + path.branch.size  # a later descendant replaces an earlier one
        return ends

    @cached_property
    def _sizes(self) -> torch.Tensor:
        return torch.tensor([branch.size for row in self.rows for branch in row])

    @cached_property
    def _sources(self) -> torch.Tensor:
        """Index in the pack's list of each token, row after row."""
        return self._ranges([branch.start for row in self.rows for branch in row])

    @cached_property
    def _cells(self) -> torch.Tensor:
        """Index in the flattened rows of each token, row after row."""
        starts = list[int]()
        for number, row in enumerate(self.rows):
            column = number * self.width
            for branch in row:
                starts.append(column)
                column += branch.size
        return self._ranges(starts)

    def _ranges(self, starts: Sequence[int]) -> torch.Tensor:
        """Concatenate a range for each branch, from its start."""
        offset = self._sizes.cumsum(0) - self._sizes
        return self._each((torch.tensor(starts) - offset).tolist()) + torch.arange(int(self._sizes.sum()))

    def _each(self, numbers: Sequence[int]) -> torch.Tensor:
        """Repeat the number of each branch for its tokens."""
        return torch.tensor(numbers).repeat_interleave(self._sizes)

    def _place_values(self, values: torch.Tensor, padding: int) -> torch.Tensor:
        """Put a value of each token into its cell, [R, W]."""
        cells = torch.full((len(self.rows) * self.width,), padding)
        return cells.index_copy_(0, self._cells, values).view(len(self.rows), self.width)


class BranchPath(NamedTuple):
    """Branch of a row, with the way to its end."""

    branch: TextBranch
    start: int
    """Column of its first token."""
    columns: torch.Tensor
    """Columns of the tokens from the root to its end, by their depth."""


def branch_paths(row: Sequence[TextBranch]) -> Iterator[BranchPath]:
    """Yield the path of each branch of a row."""
    start, columns = 0, torch.empty(0, dtype=torch.long)
    for branch in row:
        columns = torch.cat([columns[: branch.depth], torch.arange(start, start + branch.size)])
        yield BranchPath(branch, start, columns)
        start += branch.size


def _is_chain(row: Sequence[TextBranch]) -> bool:
    """Test whether each branch continues the text of the one before it."""
    return not row[0].depth and all(after.depth == before.reach for before, after in pairwise(row))


def tree_batch(pack: Pack) -> TreeBatch:
    """Put the trees of a pack into rows as wide as its largest tree, by first fit decreasing."""
    trees = list(pack.trees)
    sizes = [sum(branch.size for branch in tree) for tree in trees]
    width = max(sizes)
    if all(map(_is_chain, trees)) and sum(sizes) >= _FILLED * width * len(trees):
        return TreeBatch(tuple(map(tuple, trees)), width)
    rows, room = list[list[TextBranch]](), list[int]()
    for number in sorted(range(len(trees)), key=lambda number: (-sizes[number], number)):
        row = next((row for row, left in enumerate(room) if left >= sizes[number]), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(width)
        rows[row] += trees[number]
        room[row] -= sizes[number]
    return TreeBatch(tuple(map(tuple, rows)), width)
