"""Normalization of a loss over tokens: the share of each token in the batch.

The loss of a batch is the sum of its tokens' losses times their shares, so the losses of microbatches add up to it.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch

from stratagem.base.errors import UnknownName
from stratagem.learn.losses.base import Columns, Totals, by_example

DIVISOR = "divisor"
"""Row of the given divisor."""
NormalizeBy = Literal["token", "example", "divisor"]
"""Normalization of the summed token losses.

token: all alike, so long replies weigh more (trl's dapo and, where a batch comes in one piece, bnpo).
example: each example alike, so a token of a long reply weighs less (GRPO).
divisor: each token over its example's row `divisor`, whatever the reply's length: the number of steps (SEPO), or
  examples times the longest reply that was allowed (Dr. GRPO).
"""


def check_normalize_by(normalize_by: NormalizeBy) -> None:
    """Reject an unknown normalization."""
    if normalize_by not in get_args(NormalizeBy):
        raise UnknownName("`normalize_by` of a loss", str(normalize_by), get_args(NormalizeBy))


def rows_of(normalize_by: NormalizeBy) -> frozenset[str]:
    """Rows that the normalization needs of each example."""
    return frozenset({DIVISOR}) if normalize_by == "divisor" else frozenset()


def count_totals(columns: Columns, weight: torch.Tensor | None = None) -> dict[str, float]:
    """Count the tokens and the examples of the whole batch; those of weight 0 are not counted."""
    if weight is None:
        return {"tokens": len(columns.example) or 1.0, "examples": columns.num_examples or 1.0}
    examples = (by_example(weight, columns) > 0).sum().item()
    return {"tokens": weight.sum().item() or 1.0, "examples": examples or 1.0}


def shares(normalize_by: NormalizeBy, columns: Columns, totals: Totals, weight: torch.Tensor) -> torch.Tensor:
    """Compute the share of each token in the loss, [N], in proportion to its weight."""
    if normalize_by == "token":
        return weight / totals["tokens"]
    if normalize_by == "divisor":
        return weight / columns.rows[DIVISOR].to(weight)[columns.example]
    sizes = by_example(weight, columns) * totals["examples"]
    return weight / torch.where(sizes > 0, sizes, 1.0)[columns.example]
