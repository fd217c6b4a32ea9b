"""Sizes of a model by its configuration alone: parameters, adapters, and bytes of keys and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

BYTES = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0}
"""Bytes of a number, by its format."""
FOUR_BIT = 0.5 + 4.0 / 64.0
"""Bytes of a weight in NF4, with a scale in fp32 for each block of 64."""


_HEAD_NORMS = ("qwen3", "gemma3", "gemma4")
"""Beginnings of the types of models that norm queries and keys."""
_POST_NORMS = ("gemma2", "gemma3", "gemma4")
"""Beginnings of the types of models that norm the outputs of attention and MLP, too."""
_GATED = ("qwen3_5", "qwen3_next")
"""Beginnings of the types of models whose attention gates the outputs of its heads."""


@dataclass(frozen=True)
class LinearAttention:
    """Sizes of the layers of linear attention, by the gated delta rule (Yang et al. 2025)."""

    key_heads: int
    heads: int
    """Number of heads of the values, each with a state."""
    head_dim: int
    """Width of a head, of keys and of values."""

    @property
    def width(self) -> int:
        """Width of the values."""
        return self.heads * self.head_dim

    @property
    def mixed(self) -> int:
        """Width of queries, keys and values together."""
        return (2 * self.key_heads + self.heads) * self.head_dim


@dataclass(frozen=True)
class ModelShape:
    """Sizes of a decoder-only transformer."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: int
    tied: bool = True
    caching_layers: int = 0
    """Number of layers that keep keys and values; 0 is all. Layers of linear attention keep none."""
    further: int = 0
    """Parameters beside the standard ones, such as embeddings of single layers."""
    head_norms: bool = False
    """Norms of queries and keys."""
    post_norms: bool = False
    """Norms of the outputs of attention and MLP, beside those of their inputs."""
    gated: bool = False
    """Gate on the outputs of the heads."""
    eager: bool = False
    """Attention that stores its weights, as a soft cap on them needs."""
    linear: LinearAttention | None = None
    """Sizes of the layers that keep no keys and values."""
    per_layer_input: int = 0
    """Width of a further embedding that each layer reads."""
    global_layers: int = 0
    """Number of layers with wider heads."""
    global_head_dim: int = 0
    """Width of these heads."""

    @property
    def blocks(self) -> tuple[LayerBlock, ...]:
        """Kinds of layers, each with their number."""
        plain = (self.caching_layers or self.layers) - self.global_layers
        kinds = [
            LayerBlock(self, plain, self.head_dim),
            LayerBlock(self, self.global_layers, self.global_head_dim),
            LayerBlock(self, self.layers - plain - self.global_layers, self.head_dim, self.linear),
        ]
        return tuple(kind for kind in kinds if kind.count)

    @property
    def is_llama(self) -> bool:
        """True if its layers are those of Llama, which `models.decoder_structure` reads."""
        other = self.post_norms or self.gated or self.eager or self.linear or self.per_layer_input
        return not (other or self.global_layers)

    @property
    def linear_parameters(self) -> int:
        """Parameters of the linear layers, which +4bit quantises."""
        return sum(block.count * sum(map(prod, block.linears.values())) for block in self.blocks)

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        embeddings = (1 if self.tied else 2) * self.vocabulary * self.hidden
        return self.linear_parameters + embeddings + (2 * self.layers + 1) * self.hidden + self.further

    def adapter_parameters(self, rank: int, targets: Sequence[str] = ()) -> int:
        """Return the number of parameters of a LoRA adapter."""
        each = ((block.count, block.layers_with_adapter(targets)) for block in self.blocks)
        whole = sum(count * sum(map(sum, linears.values())) for count, linears in each)
        model_wide = self.hidden + self.layers * self.per_layer_input if self.per_layer_input and not targets else 0
        return rank * (whole + model_wide)

    def weight_bytes(self, dtype: str, *, four_bit: bool = False) -> float:
        """Return the bytes of the weights."""
        if not four_bit:
            return self.parameters * BYTES[dtype]
        return self.linear_parameters * FOUR_BIT + (self.parameters - self.linear_parameters) * BYTES[dtype]

    def cache_bytes(self, dtype: str) -> float:
        """Return the bytes of the keys and values of one token."""
        return 2 * sum(block.count * block.narrow for block in self.blocks if block.linear is None) * BYTES[dtype]

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> ModelShape:
        """Read the sizes in a configuration of transformers; of a multimodal model, those of its language model."""
        stated = {**config, **config.get("text_config", {})}
        heads = int(stated["num_attention_heads"])
        kinds, name = stated.get("layer_types") or [], str(stated.get("model_type", ""))
        wider, each = _wider_heads(stated), int(stated.get("hidden_size_per_layer_input") or 0)
        rows = int(stated.get("vocab_size_per_layer_input") or 0) + int(stated["hidden_size"])
        return cls(
            layers=int(stated["num_hidden_layers"]),
            hidden=int(stated["hidden_size"]),
            heads=heads,
            kv_heads=int(stated.get("num_key_value_heads") or heads),
            head_dim=int(stated.get("head_dim") or stated["hidden_size"] // heads),
            intermediate=int(stated["intermediate_size"]),
            vocabulary=int(stated["vocab_size"]),
            tied=bool(stated.get("tie_word_embeddings", True)),
            caching_layers=sum(kind != "linear_attention" for kind in kinds),
            head_norms=name.startswith(_HEAD_NORMS),
            post_norms=name.startswith(_POST_NORMS),
            gated=name.startswith(_GATED),
            eager=stated.get("attn_logit_softcapping") is not None,
            linear=_linear_attention(stated) if "linear_attention" in kinds else None,
            further=rows * int(stated["num_hidden_layers"]) * each,
            per_layer_input=each,
            global_layers=len(wider),
            global_head_dim=max(wider, default=0),
        )


@dataclass(frozen=True)
class LayerBlock:
    """Layers of one kind: their linear layers by name."""

    shape: ModelShape
    count: int
    head_dim: int
    linear: LinearAttention | None = None
    """Sizes of linear attention in place of attention."""

    @property
    def wide(self) -> int:
        """Width of the queries."""
        return self.shape.heads * self.head_dim

    @property
    def narrow(self) -> int:
        """Width of the keys, and of the values."""
        return self.shape.kv_heads * self.head_dim

    @property
    def linears(self) -> dict[str, tuple[int, int]]:
        """Inputs and outputs of each linear layer."""
        hidden, each = self.shape.hidden, self.shape.per_layer_input
        up = (hidden, self.shape.intermediate)
        mlp = {"gate_proj": up, "up_proj": up, "down_proj": up[::-1]}
        further = {"per_layer_input_gate": (hidden, each), "per_layer_projection": (each, hidden)} if each else {}
        return (self._attention if self.linear is None else self._linear_attention(self.linear)) | mlp | further

    @property
    def _attention(self) -> dict[str, tuple[int, int]]:
        hidden, narrow = self.shape.hidden, (self.shape.hidden, self.narrow)
        queries = (hidden, self.wide * (2 if self.shape.gated else 1))
        return {"q_proj": queries, "k_proj": narrow, "v_proj": narrow, "o_proj": (self.wide, hidden)}

    def _linear_attention(self, sizes: LinearAttention) -> dict[str, tuple[int, int]]:
        hidden = self.shape.hidden
        rates = {f"in_proj_{name}": (hidden, sizes.heads) for name in ("a", "b")}
        mixed = {"in_proj_qkv": (hidden, sizes.mixed), "in_proj_z": (hidden, sizes.width)}
        return mixed | rates | {"out_proj": (sizes.width, hidden)}

    def layers_with_adapter(self, targets: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the linear layers with an adapter; without `targets`, all."""
        return {name: size for name, size in self.linears.items() if not targets or name in targets}


def _wider_heads(stated: Mapping[str, Any]) -> list[int]:
    """Return the width of the heads of each layer that has a width of its own."""
    single = stated.get("per_layer_config") or {}
    return [int(layer["head_dim"]) for layer in single.values() if "head_dim" in layer]


def _linear_attention(stated: Mapping[str, Any]) -> LinearAttention:
    """Read the sizes of linear attention; a configuration without them has those of its attention."""
    heads = int(stated.get("linear_num_value_heads") or stated["num_attention_heads"])
    keys = int(stated.get("linear_num_key_heads") or heads)
    return LinearAttention(keys, heads, int(stated.get("linear_value_head_dim") or stated["hidden_size"] // heads))
