"""Subject of a certificate: an engine with the model whose weights it answers by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stratagem.engines.base import TrainableEngine
from stratagem.models.adapters import adapter_parameters
from stratagem.models.language_model import LanguageModel

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Subject:
    """Engine, the learner's model, and the weights that are trained."""

    engine: TrainableEngine
    lm: LanguageModel
    adapter: str
    """Trained adapter; empty where all weights of the base are trained."""
    publish: Callable[[], None]
    """Give the engine the present weights."""

    @property
    def weights(self) -> list[torch.Tensor]:
        """The trained weights."""
        return adapter_parameters(self.lm, self.adapter) if self.adapter else list(self.lm.model.parameters())
