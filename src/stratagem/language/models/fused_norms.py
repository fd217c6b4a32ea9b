"""RMS norms of a model on a GPU as one kernel each, in place of the six of transformers.

A norm is replaced where it gives the same numbers to rounding, on inputs of two sizes, so that its epsilon counts too.
Some architectures multiply by 1 + weight. A norm with more inputs, such as a gated one, stays as it is.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch

_SIZES = (1.0, 1e-3)
"""Standard deviations of the inputs that are compared."""


class FusedNorm(torch.nn.Module):
    """RMS norm `x / sqrt(mean(x^2) + epsilon) * weight` (Zhang and Sennrich 2019)."""

    weight: torch.Tensor
    epsilon: float

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normed input."""
        return torch.nn.functional.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class FusedNormPlusOne(FusedNorm):
    """RMS norm times `1 + weight`, as in Gemma."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normed input; the sum with 1 is never rounded to a short format."""
        normed = torch.nn.functional.rms_norm(x, self.weight.shape, None, self.epsilon)
        return torch.addcmul(normed, normed, self.weight)


def fuse_norms(model: torch.nn.Module) -> int:
    """Replace the RMS norms of a model where they agree, and return how many were replaced."""
    return sum(_fuse_norm(module) for module in model.modules() if type(module).__name__.endswith("RMSNorm"))


def _fuse_norm(module: Any) -> bool:
    own, epsilon = type(module), getattr(module, "variance_epsilon", getattr(module, "eps", None))
    weight = getattr(module, "weight", None)
    inputs = inspect.signature(own.forward).parameters
    if weight is None or weight.dim() != 1 or not isinstance(epsilon, float) or len(inputs) != 2:
        return False
    generator = torch.Generator().manual_seed(0)
    drawn = torch.stack([size * torch.randn(4, len(weight), generator=generator) for size in _SIZES])
    x = drawn.to(weight)
    with torch.inference_mode():
        expected = module(x).float()
        module.epsilon = epsilon
        for kind in (FusedNorm, FusedNormPlusOne):
            module.__class__ = kind
            if _close(module(x).float(), expected, weight.dtype):
                return True
    module.__class__ = own
    del module.epsilon
    return False


def _close(one: torch.Tensor, other: torch.Tensor, dtype: torch.dtype) -> bool:
    """Test whether two results differ by three roundings at most."""
    rounding = 3 * torch.finfo(dtype).eps
    return torch.allclose(one, other, rtol=rounding, atol=rounding * 1e-3)
