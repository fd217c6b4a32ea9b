"""Tree attention: the token trees of a pack side by side in rows; a token attends to its ancestors alone.

Its position is its depth, so every example is read as if it stood alone. Trees that share nothing stand in rows of
their own, since attention costs the square of a row's width; small ones fill up the rows of large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from stratagem.learning.packing import Branch, Pack


@dataclass(frozen=True)
class TreeBatch:
    """Rows of branches, padded to one width, with a tree attention mask."""

    rows: tuple[tuple[Branch, ...], ...]
    """Branches of each row, one after the other; those of a tree stand in their order."""
    width: int
    numbers: dict[Branch, int]
    """Index of each branch in the pack."""

    @property
    def plain(self) -> bool:
        """True where each row is one whole text, for which the causal mask suffices."""
        return all(len(row) == 1 for row in self.rows)

    @property
    def depths(self) -> torch.Tensor:
        """Position of every token, [R, W]."""
        return torch.stack(
            [_filled([torch.arange(b.depth, b.depth + b.size) for b in row], self.width, 0) for row in self.rows]
        )

    def tokens(self, pack: Pack) -> torch.Tensor:
        """Return the token ids, [R, W]."""
        every = torch.tensor(pack.tokens)
        return torch.stack([_filled([every[b.start : b.end] for b in row], self.width, 0) for row in self.rows])

    @property
    def indices(self) -> torch.Tensor:
        """Index of each token of the pack in the flattened rows, [L]."""
        by_start = dict[int, torch.Tensor]()
        for number, row in enumerate(self.rows):
            column = number * self.width
            for branch in row:
                by_start[branch.start] = torch.arange(column, column + branch.size)
                column += branch.size
        return torch.cat([by_start[start] for start in sorted(by_start)])

    @property
    def mask(self) -> torch.Tensor:
        """Attention mask [R, W, W]: a token attends to its ancestors and itself, padding to itself."""
        depths = self.depths
        return torch.stack([self._mask(row, own) for row, own in zip(self.rows, depths, strict=True)])

    def _mask(self, row: Sequence[Branch], depths: torch.Tensor) -> torch.Tensor:
        column = {self.numbers[branch]: index for index, branch in enumerate(row)}
        followed = torch.zeros(len(row) + 1, len(row) + 1, dtype=torch.long)
        for index, branch in enumerate(row):
            followed[index, index] = branch.depth + branch.size
            for other, end in branch.above:
                followed[index, column[other]] = end
        owner = _filled([torch.full((b.size,), index) for index, b in enumerate(row)], self.width, len(row))
        reach = followed[owner][:, owner]
        mask = (depths[None, :] < reach) & (depths[None, :] <= depths[:, None])
        return mask.fill_diagonal_(fill_value=True)


def tree_batch(pack: Pack) -> TreeBatch:
    """Put the trees of a pack into rows as wide as its largest tree, by first fit decreasing."""
    trees = _trees(pack)
    sizes = [sum(branch.size for branch in tree) for tree in trees]
    width = max(sizes)
    rows, room = list[list[Branch]](), list[int]()
    for number in sorted(range(len(trees)), key=lambda number: (-sizes[number], number)):
        row = next((row for row, left in enumerate(room) if left >= sizes[number]), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(width)
        rows[row] += trees[number]
        room[row] -= sizes[number]
    numbers = {branch: number for number, branch in enumerate(pack.branches)}
    return TreeBatch(tuple(map(tuple, rows)), width, numbers)


def _trees(pack: Pack) -> list[list[Branch]]:
    """Group the branches into trees; each tree begins with its root."""
    trees = list[list[Branch]]()
    for branch in pack.branches:
        if not branch.above:
            trees.append([])
        trees[-1].append(branch)
    return trees


def _filled(pieces: Sequence[torch.Tensor], width: int, padding: int) -> torch.Tensor:
    """Concatenate pieces and pad them to a width."""
    row = torch.cat(list(pieces))
    return torch.nn.functional.pad(row, (0, width - len(row)), value=padding)
