"""Matrix products of training in fp32 on a processor, by oneDNN.

PyTorch multiplies in fp32 by MKL, which takes only half of the vector width of a processor that is not Intel's: 108
GFLOP/s where oneDNN has 235 on the same core (AMD EPYC with AVX-512), in products of 474 rows and 128 columns as in
those of SmolLM2. oneDNN reads the weights where they are, also transposed, so nothing is copied or cached. Products in
short formats are oneDNN's already.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

_LEAST_ROWS = 16
"""Rows from which on oneDNN is faster: with fewer it reads the weights in an order that suits no cache."""


def multiply(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Compute `x W^T + b` of rows [N, in] and weights [out, in], or of views of such; no gradient is recorded."""
    if not has_faster_product(x, weight):
        return linear(x, weight, bias)
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")  # noqa: SLF001 - as in `packed_linear`
    return product


def has_faster_product(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Test whether oneDNN is the faster one for a product."""
    alike = x.dtype == weight.dtype == torch.float32 and x.device.type == weight.device.type == "cpu"
    rows = x.numel() // max(1, x.shape[-1])
    return alike and rows >= _LEAST_ROWS and hasattr(torch.ops.mkldnn, "_linear_pointwise")


class OneDNNLinear(torch.nn.Linear):
    """Linear layer whose products, those of its gradients too, are oneDNN's where that is faster."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x W^T + b`."""
        if not has_faster_product(x, self.weight):
            return super().forward(x)
        product: torch.Tensor = _Product.apply(x, self.weight, self.bias)  # type: ignore[no-untyped-call]
        return product


def use_onednn(model: torch.nn.Module) -> None:
    """Give the plain linear layers of a model the faster products; other layers stay as they are."""
    for module in model.modules():
        if type(module) is torch.nn.Linear:
            module.__class__ = OneDNNLinear


class _Product(torch.autograd.Function):
    """Autograd function `x W^T + b`."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        flat = x.reshape(-1, x.shape[-1])
        return multiply(flat, weight, bias).view(*x.shape[:-1], weight.shape[0])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        flat, above = x.reshape(-1, x.shape[-1]), given.reshape(-1, given.shape[-1])
        own = multiply(above, weight.t()).view_as(x) if ctx.needs_input_grad[0] else None
        theirs = multiply(above.t(), flat.t()) if ctx.needs_input_grad[1] else None
        return own, theirs, above.sum(0) if ctx.needs_input_grad[2] else None
