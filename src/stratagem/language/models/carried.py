"""Weights of a model as files, by which another process gives its own copy of the model the same ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stratagem.language.models.adapter_files import read_weights
from stratagem.language.models.adapters import (
    adapter_names,
    adapter_parameters,
    adapter_weights,
    load_adapter,
    save_adapter,
)
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.merging import WEIGHTS, base_weights, write_base
from stratagem.language.models.reference import BadModel


def write_weights(model: LanguageModel, adapter: str, folder: Path) -> None:
    """Write an adapter (empty: all weights of the base) into a new folder."""
    if adapter:
        return save_adapter(model, adapter, folder)
    folder.mkdir()
    return write_base(model, folder)


def take_weights(model: LanguageModel, adapter: str, folder: Path) -> None:
    """Take over the weights of a folder; an adapter that the model lacks is added."""
    from safetensors.torch import load_file

    if not adapter:
        return _fill(base_weights(model), load_file(folder / WEIGHTS), folder)
    if adapter not in adapter_names(model):
        return load_adapter(model, folder, adapter)
    return _fill(adapter_weights(model, adapter), read_weights(folder), folder)


def weights_of(model: LanguageModel, adapter: str) -> list[Any]:
    """Return the parameters of an adapter (empty: of the base) that can be trained."""
    if adapter:
        return adapter_parameters(model, adapter)
    base = model.model.get_base_model() if adapter_names(model) else model.model
    return [weight for name, weight in base.named_parameters() if weight.is_floating_point() and ".lora_" not in name]


def _fill(own: dict[str, Any], weights: dict[str, Any], folder: Path) -> None:
    import torch

    if {name: weight.shape for name, weight in own.items()} != {name: w.shape for name, w in weights.items()}:
        raise BadModel(f"The weights in {folder} do not fit this copy of the model.")
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(weights[name])
