"""Ratios and KL estimators at each token, from the log-probabilities of two policies.

Log-ratios are clamped at 20, where a ratio is 5e8: losses stay finite, and beyond the clamp a token has no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch

EXTREME = 20.0
"""Bound of the logarithm of a ratio."""
KLEstimator = Literal["none", "one_sided", "k1", "k2", "k3"]
Divergence = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def ratio(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute the probability ratio of the policy to another one."""
    return (policy - other).clamp(-EXTREME, EXTREME).exp()


def one_sided(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `max(0, log pi - log ref)`, a penalty of tokens likelier than in the reference (SEPO, eq. 6).

    Where the two agree to the bit, as in a first step, it has no gradient; a clamp would have.
    """
    return torch.relu(policy - other)


def k1(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `log pi - log ref`: the divergence on average, but as a loss its gradient is zero on average."""
    return policy - other


def k2(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `(log pi - log ref)^2 / 2`: biased as an estimate; as a loss its mean gradient is that of KL(pi, ref)."""
    return (policy - other).square() / 2


def k3(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Compute `ref/pi - 1 - log(ref/pi)`: at least 0, the divergence on average; as a loss it follows KL(ref, pi)."""
    log_ratio = other - policy
    return log_ratio.clamp(-EXTREME, EXTREME).expm1() - log_ratio


KL_ESTIMATORS: dict[str, Divergence] = {"one_sided": one_sided, "k1": k1, "k2": k2, "k3": k3}
"""KL estimators by name; all are averages over samples of the policy itself."""
