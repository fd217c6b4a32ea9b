"""Trained weights in a checkpoint: adapters as peft keeps them, or the whole model, both as safetensors.

Restoring fills the weights that are there, so an optimizer that was made over them goes on with the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stratagem.base.errors import BadRecord
from stratagem.base.manifest import write_manifest
from stratagem.language.models.adapter_files import read_weights
from stratagem.language.models.adapters import adapter_names, adapter_parameters, check_adapter, save_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.merging import WEIGHTS, check_whole, write_model

if TYPE_CHECKING:
    import torch

ADAPTERS, MODEL, HEADS = "adapters", "model", "heads"


def writes_adapters(model: LanguageModel, names: Sequence[str] | None = None) -> Callable[[Path], None]:
    """Make a writer of adapters (by default all) into a checkpoint's folder, each as `+adapter:PATH` takes it."""

    def write(folder: Path) -> None:
        for name in adapter_names(model) if names is None else names:
            save_adapter(model, name, folder / ADAPTERS / name)

    return write


def writes_model(model: LanguageModel) -> Callable[[Path], None]:
    """Make a writer of all weights of a model without adapters into a checkpoint's folder, as `dir:PATH` takes it."""
    check_whole(model)
    return lambda folder: write_model(model, folder / MODEL)


def writes_heads(heads: Mapping[str, torch.nn.Module]) -> Callable[[Path], None]:
    """Make a writer of small modules that belong to the trainer, such as value heads, each under its name."""
    from safetensors.torch import save_file

    def write(folder: Path) -> None:
        (folder / HEADS).mkdir(exist_ok=True)
        for name, head in heads.items():
            weights = {key: weight.detach().cpu().contiguous() for key, weight in head.named_parameters()}
            save_file(weights, folder / HEADS / f"{name}.safetensors")

    return write


def combine_writers(*writes: Callable[[Path], None]) -> Callable[[Path], None]:
    """Combine writers."""

    def write(folder: Path) -> None:
        for writer in writes:
            writer(folder)

    return write


def with_manifest(write: Callable[[Path], None]) -> Callable[[Path], None]:
    """Make a writer that adds a manifest, against which the files are checked when they are loaded."""

    def write_all(folder: Path) -> None:
        write(folder)
        write_manifest(folder)

    return write_all


def restore_weights(model: LanguageModel, folder: Path, names: Sequence[str] | None = None) -> None:
    """Load a model's weights from a checkpoint's folder; the model must have the saved adapters.

    `names` are the model's own adapters, where the checkpoint is of several models.
    """
    from safetensors.torch import load_file

    for path in sorted((folder / ADAPTERS).glob("*")) if names is None else [folder / ADAPTERS / n for n in names]:
        _restore_adapter(model, path)
    if (folder / MODEL).is_dir():
        moved = dict(model.model.named_parameters())
        fixed = set(model.model.state_dict()) - set(moved)
        weights = {name: weight for name, weight in load_file(folder / MODEL / WEIGHTS).items() if name not in fixed}
        _fill(model.model, weights, list(moved.values()), folder / MODEL)


def restore_heads(heads: Mapping[str, torch.nn.Module], folder: Path) -> None:
    """Load modules that `writes_heads` saved in a checkpoint's folder; each must be there."""
    from safetensors.torch import load_file

    for name, head in heads.items():
        path = folder / HEADS / f"{name}.safetensors"
        if not path.is_file():
            raise BadRecord(f"{folder} has no head {name!r}: train with the heads of the start of the run.")
        _fill(head, load_file(path), list(head.parameters()), path)


def _restore_adapter(model: LanguageModel, path: Path) -> None:
    check_adapter(model, path.name)
    halves = ((key.rpartition("."), value) for key, value in read_weights(path).items())
    weights = {f"{layer}.{path.name}.{last}": value for (layer, _, last), value in halves}
    _fill(model.model.get_base_model(), weights, adapter_parameters(model, path.name), path)


def _fill(module: Any, weights: Mapping[str, Any], wanted: Sequence[Any], path: Path) -> None:
    """Copy all of the weights, if their names, shapes and types match."""
    import torch

    known = dict(module.named_parameters())
    targets = {name: known[name] for name in weights if name in known}
    kinds = {name: (weight.shape, weight.dtype) for name, weight in weights.items()}
    if {id(weight) for weight in targets.values()} != {id(weight) for weight in wanted} or kinds != {
        name: (weight.shape, weight.dtype) for name, weight in targets.items()
    }:
        raise BadRecord(f"The weights in {path} do not fit this model: load the model of the start of the run.")
    with torch.no_grad():
        for name, weight in targets.items():
            weight.copy_(weights[name])
