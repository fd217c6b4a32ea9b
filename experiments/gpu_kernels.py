"""Kernels of a GPU for a machine without one: operations that store what those of a GPU store.

A fused norm stores its input and one number a row, and dropout stores a byte a number. Their results are those of the
operations that they stand in for, to rounding.
"""

from __future__ import annotations

from typing import Any

import torch

from stratagem.language.models.fused_norms import FusedNorm, FusedNormPlusOne, fuse_norms


class _StoredNorm(torch.autograd.Function):
    """RMS norm whose backward pass computes the normed input again."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: torch.Tensor, epsilon: float) -> torch.Tensor:
        inverse = x.float().square().mean(-1, keepdim=True).add(epsilon).rsqrt()
        ctx.save_for_backward(x, scale, inverse)
        return (x * inverse * scale).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None, None]:
        x, scale, inverse = ctx.saved_tensors
        above, size = given * scale, x.shape[-1]
        inner = (above * x).sum(-1, keepdim=True) * inverse.square() / size
        own = None
        if ctx.needs_input_grad[1]:
            own = (given * x * inverse).flatten(0, -2).sum(0).to(scale.dtype)
        return ((above - x * inner) * inverse).to(x.dtype), own, None


def _stored_norm(x: torch.Tensor, scale: torch.Tensor, epsilon: float) -> torch.Tensor:
    normed: torch.Tensor = _StoredNorm.apply(x, scale, epsilon)  # type: ignore[no-untyped-call]  # torch gives it no types
    return normed


class _StoredFusedNorm(FusedNorm):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _stored_norm(x, self.weight, self.epsilon)


class _StoredFusedNormPlusOne(FusedNormPlusOne):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _stored_norm(x, 1.0 + self.weight, self.epsilon)


def use_gpu_norms(model: torch.nn.Module) -> None:
    """Put a fused norm in the place of each norm that has one on a GPU."""
    fuse_norms(model)
    for module in model.modules():
        if type(module) in (FusedNorm, FusedNormPlusOne):
            module.__class__ = _StoredFusedNorm if type(module) is FusedNorm else _StoredFusedNormPlusOne


class _StoredDropout(torch.nn.Dropout):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.native_dropout(x, self.p, True)[0] if self.training else x


def use_gpu_dropout(model: torch.nn.Module) -> None:
    """Let dropout store one byte a number, as on a GPU."""
    for module in model.modules():
        if type(module) is torch.nn.Dropout:
            module.__class__ = _StoredDropout
