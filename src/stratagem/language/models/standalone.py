"""Models of our own, such as `tiny`, without transformers, whose import takes longer than a short evaluation.

An engine needs no more than the weights and one plain forward pass to compare its own with. What trains a model, or
adds an adapter, loads it by transformers. A folder is read here only if it is written in every point as ours are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch.nn.functional import scaled_dot_product_attention, silu

from stratagem.language.models.folder import read_json

_WEIGHTS = "model.safetensors"
_CONSTANT: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "hidden_act": "silu",
    "mlp_bias": False,
    "model_type": "llama",
}
"""Values in the configuration of every model that is read here."""
_SIZES = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
_MORE_SIZES = ("num_key_value_heads", "head_dim", "max_position_embeddings")
_WITHOUT_EFFECT = {
    *("attention_dropout", "bos_token_id", "dtype", "eos_token_id", "initializer_range", "pad_token_id"),
    *("pretraining_tp", "transformers_version", "use_cache"),
}
_KNOWN = {*_CONSTANT, *_SIZES, *_MORE_SIZES, *_WITHOUT_EFFECT, "rms_norm_eps", "rope_parameters", "tie_word_embeddings"}


@dataclass(frozen=True)
class StandaloneConfig:
    """Sizes of a model, by the names that transformers gives them."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_theta: float
    tie_word_embeddings: bool

    def get_text_config(self) -> Self:
        """Return itself: the model reads nothing but text."""
        return self

    @classmethod
    def read(cls, stated: Mapping[str, Any]) -> StandaloneConfig | None:
        """Read a configuration; None where it has anything that our own models do not have."""
        rotary = stated.get("rope_parameters")
        if not {*stated} <= _KNOWN or any(stated.get(key) != value for key, value in _CONSTANT.items()):
            return None
        if not isinstance(rotary, dict) or {*rotary} != {"rope_theta", "rope_type"} or rotary["rope_type"] != "default":
            return None
        sizes = {name: stated.get(name) for name in (*_SIZES, *_MORE_SIZES)}
        floats = {"rms_norm_eps": stated.get("rms_norm_eps"), "rope_theta": rotary["rope_theta"]}
        tied = stated.get("tie_word_embeddings")
        if any(type(size) is not int for size in sizes.values()) or type(tied) is not bool:
            return None
        if any(type(number) is not float for number in floats.values()):
            return None
        return cls(**sizes, **floats, tie_word_embeddings=tied)  # type: ignore[arg-type] # checked above


class _LlamaNorm(torch.nn.Module):
    def __init__(self, config: StandaloneConfig) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(config.hidden_size))
        self.variance_epsilon = config.rms_norm_eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = x.float()
        inner = inner * torch.rsqrt(inner.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * inner.to(x.dtype)


class _LlamaRotary(torch.nn.Module):
    def __init__(self, config: StandaloneConfig) -> None:
        super().__init__()
        size = config.head_dim
        self.inv_freq = 1.0 / (config.rope_theta ** (torch.arange(0, size, 2, dtype=torch.float, device="cpu") / size))

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        angles = positions[..., None].float() * self.inv_freq
        both = torch.cat((angles, angles), dim=-1)
        return both.cos().to(x.dtype), both.sin().to(x.dtype)


class _LlamaAttention(torch.nn.Module):
    def __init__(self, config: StandaloneConfig) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.scaling = config.head_dim**-0.5
        queries, keys = (n * config.head_dim for n in (config.num_attention_heads, config.num_key_value_heads))
        self.q_proj = torch.nn.Linear(config.hidden_size, queries, bias=False)
        self.k_proj = torch.nn.Linear(config.hidden_size, keys, bias=False)
        self.v_proj = torch.nn.Linear(config.hidden_size, keys, bias=False)
        self.o_proj = torch.nn.Linear(queries, config.hidden_size, bias=False)

    def forward(
        self, x: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor | None, store: Any
    ) -> torch.Tensor:
        queries, keys, values = (
            layer(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        queries, keys = _rotate_heads(queries, *rotary), _rotate_heads(keys, *rotary)
        if store is not None:
            keys, values = store.update(keys, values)
        alone = mask is None
        outputs = scaled_dot_product_attention(
            queries, keys, values, attn_mask=mask, is_causal=alone, scale=self.scaling, enable_gqa=True
        )
        result: torch.Tensor = self.o_proj(outputs.transpose(1, 2).flatten(2))
        return result


def _rotate_heads(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos.unsqueeze(1) + torch.cat((-second, first), dim=-1) * sin.unsqueeze(1)


class _LlamaActivation(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return silu(x)


class _LlamaMLP(torch.nn.Module):
    def __init__(self, config: StandaloneConfig) -> None:
        super().__init__()
        self.gate_proj = torch.nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = torch.nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = torch.nn.Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.act_fn = _LlamaActivation()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return result


class _LlamaLayer(torch.nn.Module):
    def __init__(self, config: StandaloneConfig) -> None:
        super().__init__()
        self.self_attn = _LlamaAttention(config)
        self.mlp = _LlamaMLP(config)
        self.input_layernorm = _LlamaNorm(config)
        self.post_attention_layernorm = _LlamaNorm(config)


class _LlamaDecoder(torch.nn.Module):
    def __init__(self, config: StandaloneConfig) -> None:
        super().__init__()
        empty = torch.empty(config.vocab_size, config.hidden_size)
        # with a weight nothing is drawn: torch draws normal numbers without a device by a compiler of 1.5 s of imports
        self.embed_tokens = torch.nn.Embedding(config.vocab_size, config.hidden_size, _weight=empty)
        self.layers = torch.nn.ModuleList(_LlamaLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = _LlamaNorm(config)
        self.rotary_emb = _LlamaRotary(config)

    def get_input_embeddings(self) -> torch.nn.Embedding:
        return self.embed_tokens


class GenerationEnds(NamedTuple):
    """Settings of generation, as far as an engine reads them."""

    eos_token_id: Any


class LlamaOutput(NamedTuple):
    """Output of a forward pass."""

    logits: torch.Tensor


class StandaloneLlama(torch.nn.Module):
    """Llama decoder (Touvron et al. 2023) with the names that transformers gives its parts."""

    def __init__(self, config: StandaloneConfig, ends: GenerationEnds) -> None:
        super().__init__()
        self.config, self.generation_config = config, ends
        self.model = _LlamaDecoder(config)
        self.lm_head = torch.nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.lm_head.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the weights."""
        return self.lm_head.weight.dtype

    def get_decoder(self) -> torch.nn.Module:
        """Return the model without its head."""
        return self.model

    def get_input_embeddings(self) -> torch.nn.Embedding:
        """Return the embeddings of tokens."""
        return self.model.embed_tokens

    def get_output_embeddings(self) -> torch.nn.Linear:
        """Return the head."""
        return self.lm_head

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        past_key_values: Any = None,
        *,
        use_cache: bool = False,
        logits_to_keep: int = 0,
    ) -> LlamaOutput:
        """Return the logits after the last tokens (0: after all), under a mask [R, C] of texts or [R, 1, Q, C]."""
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=self.device)[None]
        if attention_mask is not None and attention_mask.dim() == 2:
            attention_mask = _causal_mask(attention_mask)
        x = self.model.embed_tokens(input_ids)
        rotary = self.model.rotary_emb(x, position_ids)
        for number, layer in enumerate(self.model.layers):
            assert isinstance(layer, _LlamaLayer)
            store = past_key_values.layers[number] if use_cache else None
            x = x + layer.self_attn(layer.input_layernorm(x), rotary, attention_mask, store)
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return LlamaOutput(self.lm_head(self.model.norm(x)[:, -logits_to_keep:]))


def _causal_mask(tokens: torch.Tensor) -> torch.Tensor:
    """Return what each token sees of texts that are padded on the left; padding sees everything, and is not read."""
    width = tokens.shape[1]
    seen = torch.ones(width, width, dtype=torch.bool, device=tokens.device).tril() & tokens.bool()[:, None, None, :]
    return seen | ~seen.any(-1, keepdim=True)


def read_standalone(folder: Path, dtype: torch.dtype) -> StandaloneLlama | None:
    """Read a model; None where its folder is not as ours are, which transformers may still read."""
    from safetensors.torch import load_file

    names = ("config.json", "generation_config.json", _WEIGHTS)
    if not all((folder / name).is_file() for name in names):
        return None
    config = StandaloneConfig.read(read_json(folder / names[0]))
    if config is None:
        return None
    with torch.device("meta"):
        model = StandaloneLlama(config, GenerationEnds(read_json(folder / names[1]).get("eos_token_id")))
    weights = {name: weight.to(dtype) for name, weight in load_file(folder / _WEIGHTS).items()}
    if config.tie_word_embeddings:
        weights.setdefault("lm_head.weight", weights.get("model.embed_tokens.weight", torch.empty(0)))
    own = model.state_dict()
    if {name: weight.shape for name, weight in weights.items()} != {name: part.shape for name, part in own.items()}:
        return None
    model.load_state_dict(weights, assign=True)
    if config.tie_word_embeddings:
        model.lm_head.weight = model.model.embed_tokens.weight
    return model.eval().requires_grad_(False)


__all__ = ["StandaloneConfig", "StandaloneLlama", "read_standalone"]
