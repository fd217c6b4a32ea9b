"""Attention masks of an architecture: one for all layers, one for each type of layer, or none that we could give it.

With an explicit mask over all columns, sequences of different lengths can share a pass, and tokens that several of them
have in common need be computed only once. Linear attention and attention in chunks take no such mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

_KNOWN = {"full_attention", "sliding_attention"}


@dataclass(frozen=True)
class Attention:
    """Attention windows of the layers; `by_type` where full and sliding layers each get a mask of their own."""

    by_type: bool
    window: int | None

    def window_of(self, kind: str) -> int | None:
        """Return the window of a layer of this type; None where it sees all tokens before it."""
        return None if self.by_type and kind != "sliding_attention" else self.window

    def mask(self, positions: torch.Tensor, width: int, dtype: torch.dtype) -> Any:
        """Return the additive mask for queries at these positions over columns that are numbered by position."""
        behind = positions[:, None, :, None] - torch.arange(width, device=positions.device)
        return self.masks(behind >= 0, behind, dtype)

    def tree_mask(self, seen: torch.Tensor, depths: torch.Tensor, dtype: torch.dtype) -> Any:
        """Return the additive mask for rows [R, W] of tokens in a tree, where each sees some others.

        A window is counted by depth.
        """
        return self.mask_between(seen, depths, depths, dtype)

    def mask_between(
        self, seen: torch.Tensor, positions: torch.Tensor, columns: torch.Tensor, dtype: torch.dtype
    ) -> Any:
        """Return the additive mask for tokens at positions [R, Q] over columns at [R, C], where each sees some.

        A window is counted by position.
        """
        return self.masks(seen[:, None], (positions[:, :, None] - columns[:, None, :])[:, None], dtype)

    def masks(self, seen: torch.Tensor, behind: torch.Tensor, dtype: torch.dtype) -> Any:
        """Return the additive mask of what each query sees, and how far behind it that is."""
        if self.window is None:
            return _additive(seen, dtype)
        near = _additive(seen & (behind < self.window), dtype)
        return {"full_attention": _additive(seen, dtype), "sliding_attention": near} if self.by_type else near


def _additive(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~seen, torch.finfo(dtype).min)


def attention_of(config: Any) -> Attention | None:
    """Read the attention from the configuration of a language model; None where its layers take no mask of ours."""
    config = config.get_text_config()
    types = set(getattr(config, "layer_types", None) or ())
    if types - _KNOWN:
        return None
    window = getattr(config, "sliding_window", None)
    if types:
        return Attention(
            len(types) > 1 or "sliding_attention" in types, window if "sliding_attention" in types else None
        )
    uses = getattr(config, "use_sliding_window", True)
    return Attention(False, window if uses else None)
