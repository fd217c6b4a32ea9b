"""What a loss over tokens is divided by: each token's share of the batch.

The loss of a batch is the sum of its tokens' losses times their shares, so the losses of pieces add up to it.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch

from stratagem.errors import UnknownName
from stratagem.learning.losses.base import Columns, Totals, by_example

Per = Literal["token", "example", "divisor"]
"""How tokens share a batch.

token: all alike, so long replies weigh more (trl's dapo and, where a batch comes in one piece, bnpo).
example: each example alike, so a token of a long reply weighs less (GRPO).
divisor: each token over its example's row `divisor`, whatever the reply's length: the number of steps (SEPO), or
  examples times the longest reply that was allowed (Dr. GRPO).
"""


def check_per(per: Per) -> None:
    """Refuse what is none of them."""
    if per not in get_args(Per):
        raise UnknownName("way to share a batch", str(per), get_args(Per))


def rows_of(per: Per) -> frozenset[str]:
    """What must be known of each example."""
    return frozenset({"divisor"}) if per == "divisor" else frozenset()


def counted(columns: Columns, weight: torch.Tensor | None = None) -> dict[str, float]:
    """The size of the whole batch; where tokens have weights, what has none is not counted."""
    if weight is None:
        return {"tokens": len(columns.example) or 1.0, "examples": columns.num_examples or 1.0}
    examples = (by_example(weight, columns) > 0).sum().item()
    return {"tokens": weight.sum().item() or 1.0, "examples": examples or 1.0}


def shares(per: Per, columns: Columns, totals: Totals, weight: torch.Tensor) -> torch.Tensor:
    """Each token's share [N], in proportion to its weight."""
    if per == "token":
        return weight / totals["tokens"]
    if per == "divisor":
        return weight / columns.rows["divisor"].to(weight)[columns.example]
    sizes = by_example(weight, columns) * totals["examples"]
    return weight / torch.where(sizes > 0, sizes, 1.0)[columns.example]
