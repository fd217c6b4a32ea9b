"""How far two policies are apart at each token, from the log-probabilities that they give to what was said.

Logarithms are cut at 20 before they are raised, at which a ratio is 5e8: losses stay finite, and beyond the cut a token
brings no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch

EXTREME = 20.0
"""Where the logarithm of a ratio is cut."""
Charge = Literal["none", "one_sided", "k1", "k2", "k3"]
Divergence = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def ratio(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """How many times as likely the policy is to say it as the other one."""
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


DIVERGENCES: dict[str, Divergence] = {"one_sided": one_sided, "k1": k1, "k2": k2, "k3": k3}
"""What may be charged for leaving the reference, by name; all are averages over what the policy itself said."""
