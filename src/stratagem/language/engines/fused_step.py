"""Forward pass of a Llama-like decoder without the modules of transformers; on a processor with packed weights.

Queries of one group of heads share their keys, so they are rows of one product, and keys are never repeated. Adapters
stay unmerged: their factors are multiplied beside the layers that they are attached to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from stratagem.language.engines.steps import WantedLogits, every_row
from stratagem.language.engines.weights import BatchWeights
from stratagem.language.models.decoder_structure import DecoderLayer, OtherStructure, decoder_of, linear
from stratagem.language.models.language_model import LanguageModel

_MIB = 2**20


class FusedStep:
    """Forward pass of a decoder of this structure; weights are packed at the first pass after a change."""

    def __init__(self, lm: LanguageModel, weights: BatchWeights, most_mib: int) -> None:
        self.decoder = decoder_of(lm)
        self.device, self.dtype = torch.device(lm.model.device), lm.model.dtype
        if (problem := packing_problem(self.dtype, self.device)) is not None:
            raise OtherStructure(problem)
        self._check(most_mib)
        self._weights = weights
        weights.own_layers = False
        self.layers: list[list[PackedLinear | PlainLinear]] = []
        self._head: PackedLinear | PlainLinear | None = None

    def _check(self, most_mib: int) -> None:
        """Refuse layers on several devices, and a packed copy that is too large."""
        layers = [linear(module) for layer in self.decoder.layers for group in layer.groups() for module in group]
        weights = [layer.weight for layer in (*layers, self.decoder.head)]
        if any(weight.device != self.device for weight in weights):
            raise OtherStructure("its layers are on several devices")
        size = sum(weight.numel() * weight.element_size() for weight in weights) // _MIB
        if self.device.type == "cpu" and size > most_mib:
            raise OtherStructure(f"packed weights would take {size} MiB, and the setting allows {most_mib}")

    def forget(self, *, base: bool) -> None:
        """Forget packed weights that have changed."""
        if base:
            self.layers, self._head = [], None

    def _pack(self) -> PackedLinear | PlainLinear:
        self.layers = [
            [linears([linear(module) for module in group]) for group in layer.groups()] for layer in self.decoder.layers
        ]
        self._head = linears([self.decoder.head])
        return self._head

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: Any, cache: Any, wanted: WantedLogits
    ) -> torch.Tensor:
        head = self._head or self._pack()
        decoder, shape = self.decoder, ids.shape
        x = decoder.embedding(ids.flatten())
        cos, sin = (part.reshape(-1, 1, decoder.head_size) for part in decoder.rotary(x, positions))
        sin = torch.cat([-sin[..., : decoder.head_size // 2], sin[..., decoder.head_size // 2 :]], dim=-1)
        masks = _repeat_mask(mask, decoder.num_heads // decoder.num_key_heads)
        for number, layer in enumerate(decoder.layers):
            x = self._layer(number, layer, x, shape, (cos, sin), masks, cache)
        if not every_row(wanted, shape):
            places = [row * shape[1] + column for row, column in zip(*wanted, strict=True)]
            x = x[torch.tensor(places, device=self.device)]
        return head(decoder.norm(x))

    def _layer(
        self,
        number: int,
        layer: DecoderLayer,
        x: torch.Tensor,
        shape: torch.Size,
        rotary: tuple[torch.Tensor, torch.Tensor],
        masks: Any,
        cache: Any,
    ) -> torch.Tensor:
        """Compute one layer for tokens [R * W, H]."""
        decoder = self.decoder
        heads, key_heads, size = decoder.num_heads, decoder.num_key_heads, decoder.head_size
        rows, width = shape
        inner = self._linear(number, 0, layer.before_attention(x)).view(rows * width, -1, size)
        turned = _rotate_positions(_apply_norms(inner, heads, key_heads, layer), *rotary)
        keys = turned[:, heads:].view(rows, width, key_heads, size).transpose(1, 2)
        values = inner[:, heads + key_heads :].view(rows, width, key_heads, size).transpose(1, 2)
        all_keys, all_values = cache.layers[number].update(keys, values)
        queries = turned[:, :heads].view(rows, width, key_heads, -1, size).permute(0, 2, 3, 1, 4)
        own = masks[layer.kind] if isinstance(masks, dict) else masks
        scale = float(layer.attention.scaling)
        result = scaled_dot_product_attention(
            queries.reshape(rows, key_heads, -1, size), all_keys, all_values, attn_mask=own, scale=scale
        )
        result = result.view(rows, key_heads, -1, width, size).permute(0, 3, 1, 2, 4).reshape(rows * width, -1)
        x = self._linear(number, 1, result).add_(x)
        gate, up = self._linear(number, 2, layer.before_mlp(x)).chunk(2, dim=-1)
        return self._linear(number, 3, layer.mlp.act_fn(gate).mul_(up)).add_(x)

    def _linear(self, number: int, group: int, x: torch.Tensor) -> torch.Tensor:
        result = self.layers[number][group](x)
        if self._weights.stack is not None:
            self._weights.stack.add((number, group), lambda: self.decoder.layers[number].groups()[group], x, result)
        return result


def _apply_norms(inner: torch.Tensor, heads: int, key_heads: int, layer: DecoderLayer) -> torch.Tensor:
    """Return queries and keys after their norms, where there are any."""
    if layer.query_norm is None or layer.key_norm is None:
        return inner[:, : heads + key_heads]
    keys = inner[:, heads : heads + key_heads]
    return torch.cat([layer.query_norm(inner[:, :heads]), layer.key_norm(keys)], dim=1)


def _rotate_positions(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Apply rotary positions; the first half of `sin` is negative already."""
    return (x * cos).addcmul_(torch.roll(x, x.shape[-1] // 2, dims=-1), sin)


def _repeat_mask(mask: Any, group: int) -> Any:
    """Repeat a mask for the queries of a group, which are rows of one product."""
    if isinstance(mask, dict):
        return {kind: _repeat_mask(own, group) for kind, own in mask.items()}
    return mask.repeat(1, 1, group, 1)


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
    """Several linear layers of the same input as one: on a processor with weights in oneDNN's own layout.

    The plain layout is read again in every product, in an order that suits no cache: the packed one is about twice as
    fast. A packed copy takes as much memory as the weights, and is made anew when they change.
    """

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
