"""Models for the games that two cores can train: three sizes of one shape, with random weights until SFT.

They have the tokenizer of `tiny`, in which a card, a square and a digit are one token each.
"""

from __future__ import annotations

from pathlib import Path

from stratagem.base.cache import cached_folder
from stratagem.language.models.drawn import Size, draw_model, llama
from stratagem.language.models.tiny_tokenizer import DIGEST, train_tokenizer

VERSION = 1
"""Version of the models; raised when a new one would differ from a cached one."""
SIZES = {"base": Size(256, 4, 8), "base-10m": Size(320, 8, 10), "base-25m": Size(512, 8, 8)}
"""Sizes by name: 3.8, 11.2 and 28.1 million weights."""
_SEED = 20
"""Any number would do; with another one each result of these models would be another model's."""


def base_folder(name: str) -> Path:
    """Return the folder of a model, made if it is not cached."""
    return cached_folder(f"{name}-v{VERSION}-{DIGEST}", lambda folder: _make(SIZES[name], folder))


def _make(size: Size, folder: Path) -> None:
    tokenizer = train_tokenizer()
    draw_model(llama(size, len(tokenizer)), tokenizer, folder, _SEED)
