"""Structure of a decoder whose layers can be computed without the modules of transformers, as in Llama or Qwen 3.

RMS norms before attention and before a gated MLP, rotary positions, keys and values shared by groups of heads; biases
and norms of queries and keys are optional. A structure that is like this in its names and not in its arithmetic is
found by a comparison of logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.onednn_linear import OneDNNLinear

_LAYER = {"self_attn", "mlp", "input_layernorm", "post_attention_layernorm"}
_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")
_HEAD_NORMS = {"q_norm", "k_norm"}
_MLP = ("gate_proj", "up_proj", "down_proj")
_LINEAR = (torch.nn.Linear, OneDNNLinear)


class OtherStructure(Exception):
    """Decoder that is not of this structure; the message says where it differs."""


class Norm(NamedTuple):
    """RMS norm."""

    weight: torch.Tensor
    eps: float

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.rms_norm(x, self.weight.shape, self.weight, self.eps)


class DecoderLayer(NamedTuple):
    """Modules of one layer."""

    attention: Any
    mlp: Any
    before_attention: Norm
    before_mlp: Norm
    query_norm: Norm | None
    key_norm: Norm | None
    kind: str
    """Type of its attention, by which its mask is chosen."""

    def groups(self) -> tuple[tuple[Any, ...], ...]:
        """Return the linear layers, those of the same input together; an adapter may have been put around any."""
        query, key, value, output = (getattr(self.attention, name) for name in _PROJECTIONS)
        gate, up, down = (getattr(self.mlp, name) for name in _MLP)
        return (query, key, value), (output,), (gate, up), (down,)


class Decoder(NamedTuple):
    """Decoder and head of a language model."""

    embedding: torch.nn.Embedding
    rotary: Any
    layers: Sequence[DecoderLayer]
    norm: Norm
    head: torch.nn.Linear
    num_heads: int
    num_key_heads: int
    head_size: int


def decoder_of(lm: LanguageModel) -> Decoder:
    """Read the structure of a model's decoder; refused where it is another one."""
    base = lm.model.get_base_model() if hasattr(lm.model, "peft_config") else lm.model
    inner, head, config = base.get_decoder(), base.get_output_embeddings(), lm.model.config.get_text_config()
    _require(type(head) in _LINEAR, "its head is no linear layer")
    _require(getattr(config, "final_logit_softcapping", None) is None, "its logits are capped")
    embedding = inner.get_input_embeddings()
    _require(type(embedding) is torch.nn.Embedding, "its embeddings are scaled")
    children = _children(inner)
    _require(children == {"embed_tokens", "layers", "norm", "rotary_emb"}, f"its decoder has {_list_names(children)}")
    kinds = getattr(config, "layer_types", None) or ["full_attention"] * len(inner.layers)
    layers = [_layer(module, kind) for module, kind in zip(inner.layers, kinds, strict=True)]
    attention = layers[0].attention
    size = int(attention.head_dim)
    heads, key_heads = (int(linear(module).out_features) // size for module in layers[0].groups()[0][:2])
    return Decoder(embedding, inner.rotary_emb, layers, _norm(inner.norm), head, heads, key_heads, size)


def linear(module: Any) -> torch.nn.Linear:
    """Return the linear layer itself, without an adapter around it."""
    base = getattr(module, "base_layer", module)
    _require(type(base) in _LINEAR, f"its layers are of {type(base).__name__}")
    layer: torch.nn.Linear = base
    return layer


def _layer(module: Any, kind: str) -> DecoderLayer:
    _require((children := _children(module)) == _LAYER, f"its layers have {_list_names(children)}")
    attention, mlp = module.self_attn, module.mlp
    inside, gated = _children(attention), _children(mlp)
    _require({*_PROJECTIONS} <= inside <= {*_PROJECTIONS, *_HEAD_NORMS}, f"its attention has {_list_names(inside)}")
    _require({*_MLP} <= gated <= {*_MLP, "act_fn"}, f"its MLP has {_list_names(gated)}")
    own = [name for part in (module, attention, mlp) for name, _ in part.named_parameters(recurse=False)]
    _require(not own, f"its layers have {_list_names(own)}")
    return DecoderLayer(
        attention,
        mlp,
        before_attention=_norm(module.input_layernorm),
        before_mlp=_norm(module.post_attention_layernorm),
        query_norm=_norm(attention.q_norm) if inside >= _HEAD_NORMS else None,
        key_norm=_norm(attention.k_norm) if inside >= _HEAD_NORMS else None,
        kind=kind,
    )


def _children(module: Any) -> set[str]:
    return {name for name, _ in module.named_children()}


def _norm(module: Any) -> Norm:
    eps = getattr(module, "variance_epsilon", getattr(module, "eps", None))
    weight = getattr(module, "weight", None)
    if weight is None or not isinstance(eps, float):
        raise OtherStructure("its norms are no RMS norms")
    return Norm(weight, eps)


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise OtherStructure(reason)


def _list_names(names: Any) -> str:
    return ", ".join(sorted(names))
