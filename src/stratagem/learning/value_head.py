"""What a policy expects to be paid from here on: one number for each token, read off its last hidden state."""

from __future__ import annotations

import torch

from stratagem.models.language_model import LanguageModel


class ValueHead(torch.nn.Linear):
    """From a hidden state to one number, at first 0 for all; in fp32, whatever the model is in.

    It belongs to the trainer and to one seat, not to the model: adapters of one base are valued by heads of their own.
    The optimizer is given its parameters beside the adapter's.
    """

    def __init__(self, lm: LanguageModel, scale: float = 1.0) -> None:
        """`scale` times as much is said; an optimizer whose steps are of one size then moves values so much faster."""
        device = lm.model.device
        self.scale = scale
        super().__init__(lm.model.config.get_text_config().hidden_size, 1, device=device, dtype=torch.float32)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return self.scale * super().forward(states)

    def reset_parameters(self) -> None:
        """All are 0; nothing is drawn."""
        torch.nn.init.zeros_(self.weight)
        torch.nn.init.zeros_(self.bias)
