"""Extras of the package by the module whose import fails without them."""

from __future__ import annotations

from collections.abc import Mapping

from stratagem.base.errors import MissingExtra

MODULES: Mapping[str, tuple[str, ...]] = {
    "models": (
        *("accelerate", "gguf", "huggingface_hub", "jinja2", "openskill", "peft", "safetensors", "tokenizers"),
        *("tensorboardX", "torch", "transformers"),
    ),
    "quantized": ("bitsandbytes",),
    "vllm": ("vllm",),
    "ray": ("ray",),
    "api": ("httpx2", "openai"),
    "plots": ("plotly",),
    "wandb": ("wandb",),
    "trackio": ("trackio",),
    "diplomacy": ("diplomacy",),
    "fast": ("numba",),
    "inspect": ("inspect_ai",),
    "pettingzoo": ("pettingzoo",),
    "textarena": ("textarena",),
    "openenv": ("openenv",),
    "mcp": ("mcp",),
}
"""Modules that each extra installs for us."""
_EXTRAS = {module: extra for extra, modules in MODULES.items() for module in modules}


def missing_extra(error: ModuleNotFoundError, what: str) -> MissingExtra | None:
    """Return the sentence about an import that failed; None where no extra installs the module."""
    extra = _EXTRAS.get((error.name or "").partition(".")[0])
    return None if extra is None else MissingExtra(what, extra)
