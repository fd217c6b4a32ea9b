"""Ratios and KL estimators at each token, from the log-probabilities of two policies.

Logarithms are cut at 20 before they are raised, at which a ratio is 5e8: losses stay finite, and beyond the cut a token
brings no gradient.
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
    """Probability ratio of the policy to the other one."""
    return (policy - other).clamp(-EXTREME, EXTREME).exp()


def one_sided(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`max(0, log pi - log ref)`: only what became likelier than in the reference is held back (SEPO, eq. 6).

    Where the two agree to the bit, as in a first step, it has no gradient; a clamp would have.
    """
    return torch.relu(policy - other)


def k1(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`log pi - log ref`: the divergence on average, but as a loss its gradient is zero on average."""
    return policy - other


def k2(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`(log pi - log ref)^2 / 2`: biased as a figure; as a loss it has the gradient of KL(pi, ref) on average."""
    return (policy - other).square() / 2


def k3(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`ref/pi - 1 - log(ref/pi)`: never negative, the divergence on average; as a loss it follows KL(ref, pi)."""
    far = other - policy
    return far.clamp(-EXTREME, EXTREME).expm1() - far


KL_ESTIMATORS: dict[str, Divergence] = {"one_sided": one_sided, "k1": k1, "k2": k2, "k3": k3}
"""KL estimators by name; all are averages over samples of the policy itself."""
