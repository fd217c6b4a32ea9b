"""Sampling distribution of a reply: how logits become the probabilities that are drawn from.

Every part of the package passes these settings as one object. `language.engines.sampler` computes the distribution, and
`language.models.decoding_settings` declares the settings of recipes and the samplers by name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stratagem.base.errors import BadParameter


@dataclass(frozen=True)
class Sampling:
    """Sampling distribution: tempered, then cut by top-k, top-p and min-p in this order, each renormalised.

    A sampler changes what is left.
    """

    temperature: float = 1.0
    """Sampling temperature; 0 takes the most likely token."""
    top_k: int = 0
    """Number of most likely tokens to sample from; 0 leaves all."""
    top_p: float = 1.0
    """Nucleus sampling: the most likely tokens that together have at least this probability."""
    min_p: float = 0.0
    """Min-p sampling (Nguyen et al. 2025): tokens of at least this share of the greatest probability; 0 leaves all."""
    sampler: str = ""
    """Text that names a sampler with its parameters; empty for draws from the policy itself.

    A text, since a record may name the file of a stranger, which reading must not load.
    """

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature < math.inf:
            raise BadParameter(f"A temperature is 0 or more, not {self.temperature}.")
        if self.top_k < 0:
            raise BadParameter(f"top_k is a number of tokens, or 0 for all of them, not {self.top_k}.")
        if not 0.0 < self.top_p <= 1.0:
            raise BadParameter(f"top_p is a probability above 0, not {self.top_p}.")
        if not 0.0 <= self.min_p <= 1.0:
            raise BadParameter(f"min_p is a share from 0 to 1, not {self.min_p}.")

    @property
    def truncates(self) -> bool:
        """True if top-k, top-p or min-p may leave tokens out of a draw."""
        return self.temperature > 0.0 and (self.top_k > 0 or self.top_p < 1.0 or self.min_p > 0.0)

    @property
    def explores(self) -> bool:
        """True if tokens are drawn from another distribution than the policy's; the arg-max knows no sampler."""
        return self.temperature > 0.0 and bool(self.sampler)

    def values(self) -> list[float]:
        """Return the settings as plain numbers; min-p only where it is set, so that earlier readers know the others."""
        return [self.temperature, self.top_k, self.top_p, *([self.min_p] if self.min_p else [])]


PLAIN = Sampling()
LIKELIEST = Sampling(temperature=0.0)
