"""Linear layer with a LoRA adapter in as few passes over memory as possible.

peft computes the base's output, the adapter's, its multiple and their sum, each a pass over all numbers, and as many on
the way back. Here the matrix multiplication of the adapter adds its part. Over a base in a short format the factors are
rounded to that format, as automatic mixed precision does; their gradients reach the fp32 weights. Whatever is not plain
(a trained or quantised base, active dropout, several adapters, another kind of LoRA) is left to peft.
"""

from __future__ import annotations

from typing import Any

import torch
from peft.tuners.lora.layer import Linear
from torch.autograd.function import once_differentiable

from stratagem.language.models.onednn_linear import OneDNNLinear, multiply


class QuickLinear(Linear):
    """Layer of peft with a faster forward pass in the plain case."""

    def forward(self, x: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        plain = None if args or options or self.disable_adapters or self.merged else self._plain(x)
        if plain is None:
            out: torch.Tensor = super().forward(x, *args, **options)
            return out
        base, inward, outward, scale = plain
        result: torch.Tensor = LoRAProduct.apply(x, base.weight, base.bias, inward, outward, scale)  # type: ignore[no-untyped-call]
        return result

    def _plain(self, x: torch.Tensor) -> tuple[torch.nn.Linear, torch.Tensor, torch.Tensor, float] | None:
        """Return the base, the adapter's two factors and its scale, in the plain case."""
        active: list[str] = self.active_adapters
        layer: Any = self
        name, base = active[0], layer.get_base_layer()
        if len(active) > 1 or name not in self.lora_A or name in self.lora_variant:
            return None
        dropout, inward, outward = layer.lora_dropout[name], layer.lora_A[name], layer.lora_B[name]
        drops = dropout.training and not isinstance(dropout, torch.nn.Identity)
        alike = x.dtype == base.weight.dtype and inward.weight.dtype in (x.dtype, torch.float32)
        trained = any(weight.requires_grad for weight in base.parameters())
        if drops or trained or not alike or outward.bias is not None:
            return None
        return base, inward.weight, outward.weight, float(self.scaling[name])


def quicken(layer: torch.nn.Module) -> None:
    """Give a peft layer the faster forward pass; one that is not a plain linear layer stays as it is."""
    if type(layer) is Linear and type(layer.get_base_layer()) in (torch.nn.Linear, OneDNNLinear):
        layer.__class__ = QuickLinear


class LoRAProduct(torch.autograd.Function):
    """Autograd function `x W + b + s (x A) B` for weights W that are not trained."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        inward: torch.Tensor,
        outward: torch.Tensor,
        scale: float,
    ) -> torch.Tensor:
        ctx.factors = inward.dtype
        inward, outward = inward.to(x.dtype), outward.to(x.dtype)
        flat = x.reshape(-1, x.shape[-1])
        out = multiply(flat, weight, bias)
        inner = multiply(flat, inward)
        out.addmm_(inner, outward.t(), alpha=scale)
        ctx.save_for_backward(x, inner, weight, inward, outward)
        ctx.scale = scale
        return out.view(*x.shape[:-1], out.shape[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x, inner, weight, inward, outward = ctx.saved_tensors
        flat, above = x.reshape(-1, x.shape[-1]), given.reshape(-1, given.shape[-1])
        below = multiply(above, outward.t()).mul_(ctx.scale)
        result = None
        if ctx.needs_input_grad[0]:
            result = multiply(above, weight.t()).addmm_(below, inward).view_as(x)
        first = multiply(below.t(), flat.t()).to(ctx.factors) if ctx.needs_input_grad[3] else None
        second = multiply(above.t(), inner.t()).to(ctx.factors).mul_(ctx.scale) if ctx.needs_input_grad[4] else None
        return result, None, None, first, second, None
