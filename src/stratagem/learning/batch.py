"""Collation of training examples into the columns that losses read."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from stratagem.errors import BadParameter
from stratagem.learning.example import Example
from stratagem.learning.losses.base import Columns


def columns_of(examples: Sequence[Example], device: torch.device | str = "cpu") -> Columns:
    """Collate the columns of examples, in their order; all examples must have the same column names."""
    if not examples:
        raise BadParameter("A batch without examples trains nothing: leave the step out.")
    counts = torch.tensor([len(example.loss_positions) for example in examples], device=device)
    tokens = {
        name: _flat([number for example in examples for number in example.columns[name]], device)
        for name in _shared([set(example.columns) for example in examples])
    }
    rows = {
        name: _flat([example.row[name] for example in examples], device)
        for name in _shared([set(example.row) for example in examples])
    }
    paired = [example.pair for example in examples if example.pair is not None]
    if paired and len(paired) < len(examples):
        raise BadParameter("Either all examples of a batch belong to pairs, or none does.")
    return Columns(
        example=torch.arange(len(examples), device=device).repeat_interleave(counts),
        num_examples=len(examples),
        tokens=tokens,
        rows=rows,
        pairs=torch.tensor(paired, device=device) if paired else None,
    )


def _flat(numbers: Sequence[float], device: torch.device | str) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32, device=device)


def _shared(names: Sequence[set[str]]) -> list[str]:
    """Return the names that all examples have; a name that only some have is an error."""
    every = set[str].intersection(*names) if names else set[str]()
    if stray := sorted(set[str]().union(*names) - every):
        raise BadParameter(f"Only some examples of the batch have {stray[0]}: give it to all of them, or to none.")
    return sorted(every)
