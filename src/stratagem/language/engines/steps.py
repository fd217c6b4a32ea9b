"""Forward pass over rows of tokens: by the layers of the model itself, or by another way to compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch

from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.standalone import StandaloneLlama


class WantedLogits(NamedTuple):
    """Places whose logits are wanted, as rows and columns of the pass."""

    rows: Sequence[int]
    columns: Sequence[int]


def every_row(wanted: WantedLogits, shape: torch.Size) -> bool:
    """Test whether what is wanted is the only token of every row, in order."""
    return shape[1] == 1 and len(wanted.rows) == shape[0] and all(row == at for at, row in enumerate(wanted.rows))


class ForwardPass(Protocol):
    """Forward pass."""

    @property
    def device(self) -> torch.device: ...

    @property
    def dtype(self) -> torch.dtype: ...

    def forget(self, *, base: bool) -> None:
        """Forget copies of weights that have changed: of an adapter, or of everything if the base has changed."""
        ...

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: Any, cache: Any, wanted: WantedLogits
    ) -> torch.Tensor:
        """Read tokens [R, W] at positions [R, W] into a cache, and return the logits of some of them."""
        ...


class ModelStep:
    """Forward pass by the layers of the model itself."""

    def __init__(self, lm: LanguageModel) -> None:
        self.lm = lm

    @property
    def device(self) -> torch.device:
        device: torch.device = self.lm.model.device
        return device

    @property
    def dtype(self) -> torch.dtype:
        dtype: torch.dtype = self.lm.model.dtype
        return dtype

    def forget(self, *, base: bool) -> None:
        """Do nothing: the layers hold the weights themselves."""

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: Any, cache: Any, wanted: WantedLogits
    ) -> torch.Tensor:
        if every_row(wanted, ids.shape):
            return self._logits(ids, positions, mask, cache, 1)[:, 0]
        first = min(wanted.columns)
        logits = self._logits(ids, positions, mask, cache, ids.shape[1] - first)
        return logits[list(wanted.rows), [column - first for column in wanted.columns]]

    def _logits(self, ids: torch.Tensor, positions: torch.Tensor, mask: Any, cache: Any, keep: int) -> torch.Tensor:
        """Return the logits after the last tokens of each row."""
        if not isinstance(self.lm.model, StandaloneLlama):
            from transformers.cache_utils import Cache

            cache = Cache(layers=cache.layers)
        logits: torch.Tensor = self.lm.model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=keep,
        ).logits
        return logits
