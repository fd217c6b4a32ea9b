"""Candidate continuations of a row that are read in one pass, as a tree of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch


@dataclass(eq=False, slots=True)
class Branches:
    """Tree of tokens after the last pending token of a row; parents come before their children."""

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """Index of the token before each; -1 for the last pending token."""
    depths: list[int] = field(default_factory=list)
    """Number of tokens from the last pending token on, itself not counted."""
    asked: list[int] = field(default_factory=list)
    """Tokens after which the logits are wanted."""
    children: dict[tuple[int, int], int] = field(default_factory=dict)
    """Index of the token that follows an index with an id."""

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, parent: int, run: list[int]) -> int:
        """Append a run of tokens after a parent, whose logits are wanted at its end, and return the last index."""
        for token in run:
            self.children[parent, token] = len(self.tokens)
            self.depths.append(1 + (self.depths[parent] if parent >= 0 else 0))
            self.parents.append(parent)
            self.tokens.append(token)
            parent = len(self.tokens) - 1
        self.asked.append(parent)
        return parent

    def path(self, index: int) -> list[int]:
        """Return the indices from the first token of a branch to this one."""
        result = list[int]()
        while index >= 0:
            result.append(index)
            index = self.parents[index]
        return result[::-1]

    def visible_tokens(self) -> torch.Tensor:
        """Return which tokens each token sees: itself, and those on the way to it."""
        result = torch.eye(len(self), dtype=torch.bool)
        for index, parent in enumerate(self.parents):
            if parent >= 0:
                result[index] |= result[parent]
        return result


NONE = Branches()
"""No branches."""
