"""Sizes of a model by its configuration alone: parameters, adapters, and bytes of keys and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratagem.models.folder import read_json
from stratagem.models.reference import NAMED, BadModel, ModelRef, parse_model
from stratagem.models.run_models import resolved

BYTES = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0}
"""Bytes of a number, by its format."""
FOUR_BIT = 0.5 + 4.0 / 64.0
"""Bytes of a weight in NF4, with a scale in fp32 for each block of 64."""


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

    @property
    def linears(self) -> dict[str, tuple[int, int]]:
        """Inputs and outputs of the linear layers of a block, by name."""
        wide, narrow = self.heads * self.head_dim, self.kv_heads * self.head_dim
        up = (self.hidden, self.intermediate)
        return {
            "q_proj": (self.hidden, wide),
            "k_proj": (self.hidden, narrow),
            "v_proj": (self.hidden, narrow),
            "o_proj": (wide, self.hidden),
            "gate_proj": up,
            "up_proj": up,
            "down_proj": up[::-1],
        }

    @property
    def linear_parameters(self) -> int:
        """Parameters of the linear layers, which +4bit quantises."""
        return self.layers * sum(inputs * outputs for inputs, outputs in self.linears.values())

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        embeddings = (1 if self.tied else 2) * self.vocabulary * self.hidden
        return self.linear_parameters + embeddings + (2 * self.layers + 1) * self.hidden + self.further

    def adapter_parameters(self, rank: int, targets: Sequence[str] = ()) -> int:
        """Return the number of parameters of a LoRA adapter."""
        adapted = [size for name, size in self.linears.items() if not targets or name in targets]
        return self.layers * rank * sum(inputs + outputs for inputs, outputs in adapted)

    def weight_bytes(self, dtype: str, *, four_bit: bool = False) -> float:
        """Return the bytes of the weights."""
        if not four_bit:
            return self.parameters * BYTES[dtype]
        return self.linear_parameters * FOUR_BIT + (self.parameters - self.linear_parameters) * BYTES[dtype]

    def cache_bytes(self, dtype: str) -> float:
        """Return the bytes of the keys and values of one token."""
        return 2 * (self.caching_layers or self.layers) * self.kv_heads * self.head_dim * BYTES[dtype]

    def activation_bytes(self, dtype: str, *, checkpointed: bool) -> float:
        """Return the bytes that one token keeps for the backward pass, all layers together.

        A layer keeps four copies of its width in fp32, queries, keys, values and outputs of the heads, and four copies
        of the inner width of the MLP. With checkpoints a layer keeps its input alone, and one at a time all of this.
        """
        width, heads = BYTES[dtype], (2 * self.heads + 2 * self.kv_heads) * self.head_dim
        layer = (heads + 4 * self.intermediate) * width + 4 * self.hidden * BYTES["fp32"]
        return self.layers * self.hidden * width + layer if checkpointed else self.layers * layer

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> ModelShape:
        """Read the sizes in a configuration of transformers; of a multimodal model, those of its language model."""
        stated = {**config, **config.get("text_config", {})}
        heads = int(stated["num_attention_heads"])
        kinds = stated.get("layer_types") or []
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
        )


SHAPES = {
    "smollm2": ModelShape(30, 576, 9, 3, 64, 1536, 49_152),
    "google/gemma-2-2b-it": ModelShape(26, 2304, 8, 4, 256, 9216, 256_000),
    "google/gemma-4-E4B-it": ModelShape(42, 2560, 8, 2, 256, 10_240, 262_144, further=262_144 * 42 * 256),
    "meta-llama/Llama-3.2-1B-Instruct": ModelShape(16, 2048, 32, 8, 64, 8192, 128_256),
    "mistralai/Mistral-7B-Instruct-v0.3": ModelShape(32, 4096, 32, 8, 128, 14_336, 32_768, tied=False),
    "Qwen/Qwen2-7B-Instruct": ModelShape(28, 3584, 28, 4, 128, 18_944, 152_064, tied=False),
    "Qwen/Qwen3-14B": ModelShape(40, 5120, 40, 8, 128, 17_408, 151_936, tied=False),
    "Qwen/Qwen3.5-4B": ModelShape(32, 2560, 16, 4, 256, 9216, 248_320, caching_layers=8),
}
"""Sizes of the models that the shipped recipes name on the Hub, so that an estimate needs no download.

A model that sees pictures is without its vision tower, and a layer of linear attention counts as one of attention.
"""


def shape_of(text: str) -> ModelShape | None:
    """Return the sizes of a model: named above, or read from its configuration on this machine; None if unknown."""
    ref = located(text)
    if (name := ref.where if ref.kind == "hf" else ref.kind) in SHAPES:
        return SHAPES[name]
    try:
        folder = _local_folder(ref)
    except BadModel:
        return None
    return None if folder is None else ModelShape.of(read_json(folder / "config.json"))


def located(text: str) -> ModelRef:
    """Parse the text of a model, with a run's label resolved; a run that is not here stays as it is."""
    ref = parse_model(text)
    try:
        return resolved(ref)
    except BadModel:
        return ref


def _local_folder(ref: ModelRef) -> Path | None:
    """Return the folder of a model that is here already, or is made here; nothing is fetched."""
    from stratagem.models.load import folder_of

    return folder_of(ref) if ref.kind in (*NAMED, "dir") else None
