"""The trees of a pack side by side in rows: a token sees its own ancestors and nothing else.

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
    """Rows of one width; beyond its last token a row is idle."""

    rows: tuple[tuple[Branch, ...], ...]
    """The branches of each row, one after the other, those of a tree in their order."""
    width: int
    numbers: dict[Branch, int]
    """Which branch of the pack it is."""

    @property
    def plain(self) -> bool:
        """Whether each row is one text from end to end, which any causal model reads without a mask."""
        return all(len(row) == 1 for row in self.rows)

    @property
    def depths(self) -> torch.Tensor:
        """The position of every token, [R, W]."""
        return torch.stack(
            [_filled([torch.arange(b.depth, b.depth + b.size) for b in row], self.width, 0) for row in self.rows]
        )

    def tokens(self, pack: Pack) -> torch.Tensor:
        """The tokens, [R, W]."""
        every = torch.tensor(pack.tokens)
        return torch.stack([_filled([every[b.start : b.end] for b in row], self.width, 0) for row in self.rows])

    @property
    def places(self) -> torch.Tensor:
        """Where in the rows, taken end to end, each token of the pack's list stands, [L]."""
        found = dict[int, torch.Tensor]()
        for number, row in enumerate(self.rows):
            column = number * self.width
            for branch in row:
                found[branch.start] = torch.arange(column, column + branch.size)
                column += branch.size
        return torch.cat([found[start] for start in sorted(found)])

    @property
    def seen(self) -> torch.Tensor:
        """Which tokens (last) each token sees: its ancestors and itself, [R, W, W]; idle places see themselves."""
        depths = self.depths
        return torch.stack([self._seen(row, own) for row, own in zip(self.rows, depths, strict=True)])

    def _seen(self, row: Sequence[Branch], depths: torch.Tensor) -> torch.Tensor:
        home = {self.numbers[branch]: place for place, branch in enumerate(row)}
        followed = torch.zeros(len(row) + 1, len(row) + 1, dtype=torch.long)
        for place, branch in enumerate(row):
            followed[place, place] = branch.depth + branch.size
            for other, end in branch.above:
                followed[place, home[other]] = end
        owner = _filled([torch.full((b.size,), place) for place, b in enumerate(row)], self.width, len(row))
        reach = followed[owner][:, owner]
        seen = (depths[None, :] < reach) & (depths[None, :] <= depths[:, None])
        return seen.fill_diagonal_(fill_value=True)


def tree_batch(pack: Pack) -> TreeBatch:
    """Rows as wide as the pack's largest tree, filled up with smaller ones, so at most one is less than half full."""
    trees = _trees(pack)
    sizes = [sum(branch.size for branch in tree) for tree in trees]
    width = max(sizes)
    rows, room = list[list[Branch]](), list[int]()
    for number in sorted(range(len(trees)), key=lambda number: (-sizes[number], number)):
        place = next((place for place, left in enumerate(room) if left >= sizes[number]), len(rows))
        if place == len(rows):
            rows.append([])
            room.append(width)
        rows[place] += trees[number]
        room[place] -= sizes[number]
    numbers = {branch: number for number, branch in enumerate(pack.branches)}
    return TreeBatch(tuple(map(tuple, rows)), width, numbers)


def _trees(pack: Pack) -> list[list[Branch]]:
    """Branches that hang together; each tree begins with the one that goes on from nothing."""
    trees = list[list[Branch]]()
    for branch in pack.branches:
        if not branch.above:
            trees.append([])
        trees[-1].append(branch)
    return trees


def _filled(pieces: Sequence[torch.Tensor], width: int, idle: int) -> torch.Tensor:
    """Pieces one after the other, and what is idle behind them."""
    row = torch.cat(list(pieces))
    return torch.nn.functional.pad(row, (0, width - len(row)), value=idle)
