"""Four tiny models, made on demand: real architectures of about a million parameters, with seeded random weights.

They are untrained. With them every path of code runs in a moment, and masks, caches and adapters are tried on full
attention, on sliding windows and on linear attention.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stratagem.base.cache import cached_folder
from stratagem.language.models.bpe import BOS, CONTEXT, EOS, PAD, SPECIAL
from stratagem.language.models.drawn import draw_model
from stratagem.language.models.tiny_tokenizer import DIGEST, train_tokenizer

VERSION = 1
"""Version of the models; raised when a new one would differ from a cached one."""
WINDOW = 32
"""Window of the sliding layers of tiny-gemma in tokens: any prompt of a game is longer."""
_SEED = 20
"""Any number would do; with another one each result of these models would be another model's."""
_WIDTH: dict[str, Any] = {"hidden_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32}
_SHARED: dict[str, Any] = {
    **_WIDTH,
    "max_position_embeddings": CONTEXT,
    "initializer_range": 0.06,
    "tie_word_embeddings": True,
    "pad_token_id": SPECIAL.index(PAD),
    "bos_token_id": SPECIAL.index(BOS),
    "eos_token_id": SPECIAL.index(EOS),
}
"""Standard deviation of the weights, larger than for training from scratch, so that attention affects the output."""


def tiny_folder(kind: str) -> Path:
    """Return the folder of a tiny model, made if it is not cached."""
    return cached_folder(f"{kind}-v{VERSION}-{DIGEST}", lambda folder: make_files(kind, folder))


def make_files(kind: str, folder: Path) -> None:
    """Write the files of a built-in model into a folder."""
    tokenizer = train_tokenizer()
    draw_model(config_of(kind, len(tokenizer)), tokenizer, folder, _SEED)


def config_of(kind: str, vocabulary: int) -> Any:
    """Return the configuration of a built-in model with a vocabulary of this size."""
    makers = {"tiny": _llama, "tiny-qwen": _qwen3, "tiny-gemma": _gemma3, "tiny-qwen3.5": _qwen3_5}
    return makers[kind]({**_SHARED, "vocab_size": vocabulary})


def _llama(shared: dict[str, Any]) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(**shared, num_hidden_layers=4, intermediate_size=384)


def _qwen3(shared: dict[str, Any]) -> Any:
    from transformers import Qwen3Config

    return Qwen3Config(**shared, num_hidden_layers=4, intermediate_size=384)


def _gemma3(shared: dict[str, Any]) -> Any:
    """Two sliding layers, then one of full attention, twice over."""
    from transformers import Gemma3TextConfig

    layers = ["sliding_attention", "sliding_attention", "full_attention"] * 2
    return Gemma3TextConfig(
        **shared,
        num_hidden_layers=len(layers),
        layer_types=layers,
        intermediate_size=192,
        sliding_window=WINDOW,
        query_pre_attn_scalar=shared["head_dim"],
    )


def _qwen3_5(shared: dict[str, Any]) -> Any:
    """Three layers of linear attention, then one of full attention."""
    from transformers import Qwen3_5TextConfig

    return Qwen3_5TextConfig(
        **shared,
        num_hidden_layers=4,
        layer_types=["linear_attention"] * 3 + ["full_attention"],
        intermediate_size=320,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=32,
        linear_value_head_dim=32,
    )
