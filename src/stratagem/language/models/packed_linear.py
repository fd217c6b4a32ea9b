"""Linear layers of one input, side by side: on a processor with weights in oneDNN's own layout, which is faster.

The plain layout is read again in every product, in an order that suits no cache: the packed one is about twice as fast.
A packed copy takes as much memory as the weights, and is made anew when they change. On a GPU the weights are used
where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

_ROWS = 32
"""Number of rows that the layout is made for; it is as good for one row and for many."""
_DTYPES = (torch.float32, torch.bfloat16)


def packing_problem(dtype: torch.dtype, device: torch.device) -> str | None:
    """Return why weights cannot be packed on a processor; None if they can, or if a GPU reads them as they are."""
    if device.type == "cuda":
        return None
    if device.type != "cpu":
        return f"weights are packed on processors only, not on {device.type}"
    if dtype not in _DTYPES:
        return f"weights in {dtype} cannot be packed"
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return "this torch has no oneDNN"
    return None


class PackedLinear:
    """Several linear layers of the same input as one, in the packed layout."""

    def __init__(self, layers: Sequence[torch.nn.Linear]) -> None:
        whole = torch.cat([layer.weight.detach() for layer in layers]) if len(layers) > 1 else layers[0].weight.detach()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(whole.contiguous(), _ROWS)  # noqa: SLF001 - as torch.compile does
        self._bias = _bias(layers)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")  # noqa: SLF001
        return result


class PlainLinear:
    """Several linear layers of the same input, one after another, by the weights that they have."""

    def __init__(self, layers: Sequence[torch.nn.Linear]) -> None:
        self._layers = list(layers)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        outputs = [torch.nn.functional.linear(x, layer.weight, layer.bias) for layer in self._layers]
        return torch.cat(outputs, dim=-1) if len(outputs) > 1 else outputs[0]


def linears(layers: Sequence[torch.nn.Linear]) -> PackedLinear | PlainLinear:
    """Return several linear layers of the same input as one, packed where that is faster."""
    return PackedLinear(layers) if layers[0].weight.device.type == "cpu" else PlainLinear(layers)


def _bias(layers: Sequence[torch.nn.Linear]) -> torch.Tensor | None:
    """Return the biases side by side, zeros for a layer without; None if no layer has one."""
    if all(layer.bias is None for layer in layers):
        return None
    parts: list[Any] = [
        layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias for layer in layers
    ]
    return torch.cat(parts).detach()
