"""Randomly initialised model: an architecture, a tokenizer and a seed, saved in a folder like any other model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from stratagem.language.models.bpe import BOS, CONTEXT, END, EOS, PAD, SPECIAL
from stratagem.language.models.quiet import quietly


class Size(NamedTuple):
    """Sizes of a model of full attention, whose MLP is three times as wide as its layers."""

    width: int
    layers: int
    heads: int


def llama(size: Size, vocabulary: int) -> Any:
    """Return the configuration of a Llama of this size, whose weights are drawn for training from scratch."""
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads,
        head_dim=size.width // size.heads,
        intermediate_size=3 * size.width,
        max_position_embeddings=CONTEXT,
        initializer_range=0.03,
        tie_word_embeddings=True,
        pad_token_id=SPECIAL.index(PAD),
        bos_token_id=SPECIAL.index(BOS),
        eos_token_id=SPECIAL.index(EOS),
    )


def draw_model(config: Any, tokenizer: Any, folder: Path, seed: int) -> None:
    """Draw the weights and write the folder; the same to the byte in every process."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.generation_config.eos_token_id = [SPECIAL.index(EOS), SPECIAL.index(END)]
    model.generation_config.pad_token_id = SPECIAL.index(PAD)
    with quietly():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
