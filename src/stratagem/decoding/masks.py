"""Allowed sets as tensors; torch is loaded only when one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from stratagem.decoding.vocabulary import Ids

if TYPE_CHECKING:
    import torch


def torch_mask(rows: Sequence[Ids], size: int, device: torch.device | str | None = None) -> torch.Tensor:
    """A boolean tensor of rows by vocabulary, true where the token is allowed; made on the device in one go."""
    import torch

    widths = torch.tensor([len(row) for row in rows], dtype=torch.long, device=device)
    tokens = torch.tensor(list(chain.from_iterable(rows)), dtype=torch.long, device=device)
    mask = torch.zeros(len(rows), size, dtype=torch.bool, device=device)
    mask[torch.arange(len(rows), device=device).repeat_interleave(widths), tokens] = True
    return mask


def masked(logits: torch.Tensor, rows: Sequence[Ids]) -> torch.Tensor:
    """The logits with minus infinity wherever a row's allowed set has no place for the token."""
    return logits.masked_fill(~torch_mask(rows, logits.shape[-1], logits.device), float("-inf"))
