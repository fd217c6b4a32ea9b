"""Sizes of a model by its name: from a table, or from its configuration on this machine; nothing is fetched."""

from __future__ import annotations

from pathlib import Path

from stratagem.language.models.folder import read_json
from stratagem.language.models.reference import NAMED, BadModel, ModelRef, parse_model
from stratagem.language.models.run_models import resolve_model
from stratagem.language.models.shapes import LinearAttention, ModelShape

_GEMMA_4 = 262_144 + 2560
"""Rows of the embeddings of single layers of Gemma 4 E4B, and of their projection."""
SHAPES = {
    "smollm2": ModelShape(30, 576, 9, 3, 64, 1536, 49_152),
    "google/gemma-2-2b-it": ModelShape(26, 2304, 8, 4, 256, 9216, 256_000, post_norms=True, eager=True),
    "google/gemma-3-270m-it": ModelShape(18, 640, 4, 1, 256, 2048, 262_144, head_norms=True, post_norms=True),
    "google/gemma-4-E4B-it": ModelShape(
        42,
        2560,
        8,
        2,
        256,
        10_240,
        262_144,
        further=_GEMMA_4 * 42 * 256,
        head_norms=True,
        post_norms=True,
        per_layer_input=256,
        global_layers=7,
        global_head_dim=512,
    ),
    "meta-llama/Llama-3.2-1B-Instruct": ModelShape(16, 2048, 32, 8, 64, 8192, 128_256),
    "mistralai/Mistral-7B-Instruct-v0.3": ModelShape(32, 4096, 32, 8, 128, 14_336, 32_768, tied=False),
    "Qwen/Qwen2-7B-Instruct": ModelShape(28, 3584, 28, 4, 128, 18_944, 152_064, tied=False),
    "Qwen/Qwen3-14B": ModelShape(40, 5120, 40, 8, 128, 17_408, 151_936, tied=False, head_norms=True),
    "Qwen/Qwen3.5-4B": ModelShape(
        32,
        2560,
        16,
        4,
        256,
        9216,
        248_320,
        caching_layers=8,
        head_norms=True,
        gated=True,
        linear=LinearAttention(16, 32, 128),
    ),
}
"""Sizes of the models that the shipped recipes name on the Hub, so that an estimate needs no download.

A model that sees pictures is without its vision tower.
"""


def shape_of(text: str) -> ModelShape | None:
    """Return the sizes of a model: named above, or read from its configuration on this machine; None if unknown."""
    ref = locate_model(text)
    if (name := ref.where if ref.kind == "hf" else ref.kind) in SHAPES:
        return SHAPES[name]
    try:
        folder = _local_folder(ref)
    except BadModel:
        return None
    return None if folder is None else ModelShape.of(read_json(folder / "config.json"))


def locate_model(text: str) -> ModelRef:
    """Parse the text of a model, with a run's label resolved; a run that is not here stays as it is."""
    ref = parse_model(text)
    try:
        return resolve_model(ref)
    except BadModel:
        return ref


def _local_folder(ref: ModelRef) -> Path | None:
    """Return the folder of a model that is here already, or is made here; nothing is fetched."""
    from stratagem.language.models.load import folder_of

    return folder_of(ref) if ref.kind in (*NAMED, "dir") else None
