"""Merging of an adapter into its base, and writing of a model as a folder that `dir:PATH` takes.

So the adapter of SFT is merged before the next stage begins: the merged base is the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stratagem.models.adapters import adapter_names, check_adapter
from stratagem.models.folder import folder_fingerprint
from stratagem.models.language_model import LanguageModel
from stratagem.models.reference import BadModel

WEIGHTS = "model.safetensors"


def merged(model: LanguageModel, name: str) -> None:
    """Merge an adapter into the base and remove it.

    The fingerprint is that of the folder that `write_model` would write. The model's name stays and no longer says
    what it is: write it, and load it from there, before its play is recorded.
    """
    check_adapter(model, name)
    if others := [other for other in adapter_names(model) if other != name]:
        raise BadModel(f"The adapters {', '.join(others)} are of the base as it was: merge {name} into a base without.")
    if getattr(model.model, "is_quantized", False):
        raise BadModel(f"{model.name} is in 4 bits, which an adapter cannot be merged into: load the base in bf16.")
    model.model = model.model.merge_and_unload(adapter_names=[name])
    with TemporaryDirectory() as folder:
        write_model(model, Path(folder))
        model.fingerprint = folder_fingerprint(Path(folder))


def write_model(model: LanguageModel, folder: Path) -> None:
    """Write all weights of a model without adapters into a folder, with its configuration and its tokenizer."""
    from safetensors.torch import save_file

    check_whole(model)
    weights = {name: weight.detach().cpu().contiguous() for name, weight in _tensors(model.model)}
    model.model.config.save_pretrained(folder)
    model.model.generation_config.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _tensors(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tensors that a model is loaded from: each weight once, and the buffers."""
    yield from model.named_parameters()
    tied = dict(model.named_parameters(remove_duplicate=False))
    yield from ((name, tensor) for name, tensor in model.state_dict().items() if name not in tied)


def check_whole(model: LanguageModel) -> None:
    """Refuse a model with adapters, of which its folder would hold nothing."""
    if names := adapter_names(model):
        raise BadModel(f"The model has the adapters {', '.join(names)}: save those, or train a model without any.")
