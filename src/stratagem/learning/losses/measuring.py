"""What a loss shows of itself: sums with their counts, and ranges, each fetched from the device in one go."""

from __future__ import annotations

import torch


def sums(**columns: torch.Tensor) -> dict[str, tuple[float, float]]:
    """For each column its sum and its length."""
    if not columns:
        return {}
    totals = torch.stack([column.detach().sum(dtype=torch.float32) for column in columns.values()]).tolist()
    return {name: (total, float(len(column))) for (name, column), total in zip(columns.items(), totals, strict=True)}


def ranges(**columns: torch.Tensor) -> dict[str, tuple[float, float]]:
    """For each column its least and its greatest number; nothing for an empty one."""
    full = {name: column.detach().float() for name, column in columns.items() if len(column)}
    if not full:
        return {}
    ends = torch.stack([torch.stack(torch.aminmax(column)) for column in full.values()]).tolist()
    return {name: (low, high) for name, (low, high) in zip(full, ends, strict=True)}


def among(values: torch.Tensor, some: torch.Tensor) -> tuple[float, float]:
    """The sum of the values that a mask picks, and how many there are."""
    picked = values.detach()[some]
    return picked.sum().item(), float(len(picked))
