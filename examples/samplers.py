"""A sampler of your own: it sometimes draws from a hotter distribution than the policy's."""

import math
from dataclasses import dataclass

import torch

from stratagem.base.options import within
from stratagem.language.models.decoding_settings import Sampler


@dataclass(frozen=True)
class HotMixture(Sampler):
    """Mixture of the policy with itself at a higher temperature."""

    share: float = 0.2
    """Probability of a draw at the higher temperature."""
    temperature: float = 3.0
    """Temperature of these draws, relative to that of the policy."""

    def __post_init__(self) -> None:
        within("HotMixture", "share", self.share, 0.01, 0.99)
        within("HotMixture", "temperature", self.temperature, 1.0)

    def behaviour_logprobs(self, policy_logprobs: torch.Tensor) -> torch.Tensor:
        hot = torch.log_softmax(policy_logprobs / self.temperature, -1)
        return torch.logaddexp(policy_logprobs + math.log(1.0 - self.share), hot + math.log(self.share))
