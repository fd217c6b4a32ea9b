"""Value head: a linear map from the last hidden state to the expected return."""

from __future__ import annotations

import torch

from stratagem.models.language_model import LanguageModel


class ValueHead(torch.nn.Linear):
    """Linear value head in fp32, initialized to 0.

    It belongs to the trainer and to one seat, not to the model: each adapter of a base has its own head.
    The optimizer is given its parameters beside the adapter's.
    """

    def __init__(self, lm: LanguageModel, scale: float = 1.0) -> None:
        """`scale` multiplies the output, and so the speed at which AdamW moves the values."""
        device = lm.model.device
        self.scale = scale
        super().__init__(lm.model.config.get_text_config().hidden_size, 1, device=device, dtype=torch.float32)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return self.scale * super().forward(states)

    def reset_parameters(self) -> None:
        """Set all weights to 0."""
        torch.nn.init.zeros_(self.weight)
        torch.nn.init.zeros_(self.bias)
