"""Models of the GPU benchmark: architectures of Hugging Face with random weights, in real sizes or in a small form.

The tokenizer is that of `small`, whose ids are the first of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.language.models.quiet import quietly
from stratagem.language.models.reference import DTYPES
from stratagem.language.models.small import small_folder

_COMMON: dict[str, Any] = {"max_position_embeddings": 8192, "tie_word_embeddings": True}
_SMALL: dict[str, Any] = {
    "num_hidden_layers": 2,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 8192,
    "initializer_range": 0.06,
}


@dataclass(frozen=True)
class Shape:
    """Architecture with the sizes of a published model."""

    name: str
    config: str
    """Configuration class of transformers."""
    sizes: Mapping[str, Any]
    small: Mapping[str, Any]
    """Settings that differ in the small form."""


QWEN = Shape(
    "qwen3-4b",
    "Qwen3Config",
    {
        "num_hidden_layers": 36,
        "hidden_size": 2560,
        "intermediate_size": 9728,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151_936,
    },
    {},
)
GEMMA = Shape(
    "gemma3-4b",
    "Gemma3TextConfig",
    {
        "num_hidden_layers": 34,
        "hidden_size": 2560,
        "intermediate_size": 10_240,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "vocab_size": 262_144,
        "sliding_window": 1024,
        "query_pre_attn_scalar": 256,
    },
    {"sliding_window": 32, "query_pre_attn_scalar": 32, "layer_types": ["sliding_attention", "full_attention"]},
)
SHAPES = {shape.name: shape for shape in (QWEN, GEMMA)}


def device() -> str:
    """Return the device that is measured."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def folder(shape: Shape, root: Path, *, full: bool) -> Path:
    """Return the folder of a model in bfloat16, drawn on the device if it is not there."""
    path = root / f"{shape.name}{'' if full else '-small'}"
    if not (path / "done").exists():
        _draw(shape, path, full=full)
        (path / "done").touch()
    return path


def _draw(shape: Shape, path: Path, *, full: bool) -> None:
    import transformers

    tokenizer = AutoTokenizer.from_pretrained(small_folder())
    sizes = dict(shape.sizes) if full else {**_SMALL, **shape.small}
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    config = getattr(transformers, shape.config)(**_COMMON, **sizes, **ids)
    torch.manual_seed(0)
    with torch.device(device()):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    with quietly():
        model.save_pretrained(path)
    tokenizer.save_pretrained(path)


def loaded(path: Path, dtype: str = "bf16") -> LanguageModel:
    """Load a model on the device."""
    return load(f"dir:{path}", device=device(), dtype=dtype)


def published(path: Path, dtype: str = "bf16") -> LanguageModel:
    """Load a model on the device with transformers' own modules alone, as other tools read it."""
    tokenizer = AutoTokenizer.from_pretrained(path, padding_side="left")
    with quietly():
        model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, DTYPES[dtype]))
    return LanguageModel(model.to(device()).eval().requires_grad_(False), tokenizer, path.name, device(), dtype, "")
