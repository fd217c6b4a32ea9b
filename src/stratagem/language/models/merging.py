"""Merging of an adapter into its base, and writing of a model as a folder that `dir:PATH` takes.

So the adapter of SFT is merged before the next stage begins: the merged base is the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stratagem.language.models.adapters import adapter_names, check_adapter
from stratagem.language.models.folder import folder_fingerprint
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.reference import BadModel

WEIGHTS = "model.safetensors"


def merge_adapter(model: LanguageModel, name: str) -> None:
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
    check_whole(model)
    write_base(model, folder)


def write_base(model: LanguageModel, folder: Path) -> None:
    """Write the base's present weights in the same way; adapters are left out."""
    from safetensors.torch import save_file

    base = model.model.get_base_model() if adapter_names(model) else model.model
    base.config.save_pretrained(folder)
    base.generation_config.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    whole = {name: weight.detach().cpu().contiguous() for name, weight in base_weights(model).items()}
    save_file(whole, folder / WEIGHTS, metadata={"format": "pt"})


def base_weights(model: LanguageModel) -> dict[str, Any]:
    """Return the base's tensors by their names in a file; adapters are left out."""
    base = model.model.get_base_model() if adapter_names(model) else model.model
    return {_own_name(name): weight for name, weight in _tensors(base) if ".lora_" not in name}


def _own_name(name: str) -> str:
    """Return a weight's name without the layer that peft puts around it."""
    return name.replace(".base_layer.", ".")


def _tensors(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tensors that a model is loaded from: each weight once, and the buffers."""
    yield from model.named_parameters()
    tied = dict(model.named_parameters(remove_duplicate=False))
    yield from ((name, tensor) for name, tensor in model.state_dict().items() if name not in tied)


def check_whole(model: LanguageModel) -> None:
    """Refuse a model with adapters, of which its folder would hold nothing."""
    if names := adapter_names(model):
        raise BadModel(f"The model has the adapters {', '.join(names)}: save those, or train a model without any.")
