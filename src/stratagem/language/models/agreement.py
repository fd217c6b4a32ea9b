"""Agreement of two ways to compute one result, judged by the model's own rounding.

In a short format a model disagrees with itself: a text has other logits alone than in a padded batch. This deviation is
the model's noise. Another way to compute the same result agrees if it deviates by no more than a few times the noise.
Wrong masks and positions deviate far more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from stratagem.language.models.language_model import LanguageModel

_FACTOR = 3.0
"""Largest deviation that agrees, in units of the model's noise."""
_FLOOR = {"fp32": 1e-3}
"""Deviation that agrees whatever the noise, by format."""
_SHORT_FLOOR = 0.03
"""The same for formats of 16 bits and less: four times the rounding of bfloat16."""
_CAP = 0.5
"""Deviation that never agrees, however noisy the model: wrong masks deviate by about one."""


@dataclass(frozen=True)
class Agreement:
    """Deviation of a result, and the model's own noise."""

    deviation: float
    """Root-mean-square difference in standard deviations of the result, of the worst row."""
    noise: float
    """The same between two computations by the model itself."""
    dtype: str

    @property
    def limit(self) -> float:
        """Largest deviation that agrees."""
        return min(_CAP, max(_FLOOR.get(self.dtype, _SHORT_FLOOR), _FACTOR * self.noise))

    @property
    def agrees(self) -> bool:
        """True if the deviation is within the limit; NaN is not."""
        return self.deviation <= self.limit

    def __str__(self) -> str:
        return f"it deviates by {self.deviation:.2g}, the model's own noise is {self.noise:.2g}, limit {self.limit:.2g}"


def deviation(results: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> float:
    """Return the root-mean-square difference of the worst row, in standard deviations of what is expected.

    Each result is a row [H] or several [N, H].
    """
    pairs = zip((rows.float() for rows in results), (rows.float() for rows in expected), strict=True)
    worst = [(rows - others).pow(2).mean(-1).sqrt().max() / others.std() for rows, others in pairs]
    return float(torch.stack(worst).max().item())  # NaN if any is, unlike Python's max


def agreement(
    lm: LanguageModel, results: Sequence[torch.Tensor], alone: Sequence[torch.Tensor], *, noise: float
) -> Agreement:
    """Compare results with those of the model over each text alone; `noise` is the model's own."""
    return Agreement(deviation(results, alone), noise, lm.dtype)
