"""Reader of whole texts, padded on the left, for architectures that take no mask of ours (linear attention).

Shared prefixes are computed for each text, and all rows take one token a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch

from stratagem.language.engines.branches import Branches
from stratagem.language.engines.reader import AdapterText
from stratagem.language.engines.weights import BatchWeights
from stratagem.language.models.language_model import LanguageModel


class PlainReader:
    """A model with transformers' own cache."""

    ragged = False

    def __init__(self, lm: LanguageModel) -> None:
        self.lm = lm
        self.weights = BatchWeights(lm)
        self.num_passes = self.num_tokens = 0
        self._read: dict[AdapterText, int] = {}
        self._cache: object = None
        self._adapters: list[str] = []
        self._seen = torch.zeros(0, 0)

    def read(self, texts: Sequence[AdapterText], branches: Sequence[Branches] = ()) -> torch.Tensor:
        from transformers import DynamicCache

        width = max(len(text.tokens) for text in texts)
        device = self.lm.model.device
        pads = [width - len(text.tokens) for text in texts]
        ids = [[0] * pad + list(text.tokens) for pad, text in zip(pads, texts, strict=True)]
        self._seen = torch.tensor([[0] * pad + [1] * (width - pad) for pad in pads], device=device)
        self._cache = DynamicCache(config=self.lm.model.config.get_text_config())
        self._adapters = [text.adapter for text in texts]
        self._read = {text: row for row, text in enumerate(texts)}
        self.num_tokens += sum(len(text.tokens) for text in texts)
        return self._pass(torch.tensor(ids, device=device))

    def _pass(self, ids: torch.Tensor) -> torch.Tensor:
        self.num_passes += 1
        self.weights.rows(self._adapters)
        positions = (self._seen.cumsum(-1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        output = self.lm.model(
            input_ids=ids,
            attention_mask=self._seen,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = output.logits[:, -1]
        return logits

    def park(self) -> None:
        """Do nothing: other texts cannot be read beside rows, so none are in progress."""

    def open(self, texts: Sequence[AdapterText]) -> None:
        self._select([self._read[text] for text in texts])

    def known_logits(self, text: AdapterText) -> torch.Tensor | None:
        """Return None: nothing is read ahead, since a recurrent state follows one text only."""
        return None

    def take(self, paths: Sequence[Sequence[int]]) -> None:
        """Do nothing: no branches are read."""

    def go_on(self, pending: Sequence[Sequence[int]], branches: Sequence[Branches] = ()) -> torch.Tensor:
        self.num_tokens += len(pending)
        ids = torch.tensor([[token] for (token,) in pending], device=self._seen.device)
        self._seen = torch.cat([self._seen, torch.ones_like(ids)], dim=1)
        return self._pass(ids)

    def keep(self, rows: Sequence[int]) -> list[int]:
        self._select(rows)
        return list(rows)

    def _select(self, rows: Sequence[int]) -> None:
        from transformers import DynamicCache

        if not rows:
            self._cache = None
            return
        assert isinstance(self._cache, DynamicCache)
        index = torch.tensor(list(rows), device=self._seen.device)
        self._cache.reorder_cache(cast("torch.LongTensor", index))
        self._seen = self._seen[index]
        self._adapters = [self._adapters[row] for row in rows]

    def clear(self) -> None:
        self._cache, self._adapters = None, []

    def retain(self, row: int, text: AdapterText) -> None:
        """Do nothing: no computation is cached between batches."""

    def forget(self, adapter: str) -> None:
        self.weights.forget()

    def reset(self) -> None:
        """Do nothing: no computation is cached between batches."""

    def release_copy(self) -> None:
        """Do nothing: the model's own layers are run."""

    def settle(self) -> None:
        self._cache = None
        self._read = {}
