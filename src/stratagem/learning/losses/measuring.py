"""Metrics of a loss: sums with their counts, and ranges, each copied from the device at once."""

from __future__ import annotations

import torch


def sums(**columns: torch.Tensor) -> dict[str, tuple[float, float]]:
    """Return the sum and the length of each column."""
    if not columns:
        return {}
    totals = torch.stack([column.detach().sum(dtype=torch.float32) for column in columns.values()]).tolist()
    return {name: (total, float(len(column))) for (name, column), total in zip(columns.items(), totals, strict=True)}


def ranges(**columns: torch.Tensor) -> dict[str, tuple[float, float]]:
    """Return the minimum and the maximum of each column; empty columns are left out."""
    full = {name: column.detach().float() for name, column in columns.items() if len(column)}
    if not full:
        return {}
    ends = torch.stack([torch.stack(torch.aminmax(column)) for column in full.values()]).tolist()
    return {name: (low, high) for name, (low, high) in zip(full, ends, strict=True)}


def among(values: torch.Tensor, some: torch.Tensor) -> tuple[float, float]:
    """Return the sum and the number of the values that a mask selects."""
    picked = values.detach()[some]
    return picked.sum().item(), float(len(picked))
