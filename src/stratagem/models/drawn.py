"""Randomly initialised model: an architecture, a tokenizer and a seed, saved in a folder like any other model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stratagem.models.bpe import END, EOS, PAD, SPECIAL
from stratagem.models.quiet import quietly


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
