"""Checks of a model's folder: whole safetensors with a tokenizer; never a pickle, which can run code."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from stratagem.base.files import read_small
from stratagem.language.models.reference import BadModel, ModelRef

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt", "tekken.json")
_WANTED = ["*.json", "*.safetensors", "*.jinja", "*.model", "*.txt"]
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
_LONGEST_TEXT = 1 << 20
"""Largest number of tokens to which a tokenizer may pad each text."""
_CHUNK, _CHUNKS = 1 << 16, 256
"""Size and number of the sampled pieces of a fingerprint: all of a small file, and 16 MiB of a large one."""


def check_folder(folder: Path) -> Path:
    """Check a folder and return it, if a model can be loaded from it."""
    if not folder.is_dir():
        raise BadModel(f"There is no folder {str(folder)!r}: dir: takes a folder with config.json and safetensors.")
    if not (folder / "config.json").is_file():
        hint = ": load it as +adapter:PATH" if (folder / "adapter_config.json").is_file() else ""
        raise BadModel(f"The folder {str(folder)!r} has no config.json, so it holds no model{hint}.")
    check_weights(folder, "*.safetensors")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise BadModel(f"The folder {str(folder)!r} has no tokenizer: save one there, with tokenizer.json.")
    _check_sizes(folder)
    return folder


def _check_sizes(folder: Path) -> None:
    """Refuse a folder that declares more than it holds, for which a library would allocate all the same."""
    config = read_json(folder / "config.json")
    tensors = sum(len(read_shapes(path)) for path in folder.glob("*.safetensors"))
    for name in _LAYERS:
        if isinstance(layers := config.get(name), int) and layers > tensors:  # a layer has a tensor at least
            raise BadModel(f"The folder {str(folder)!r} declares {name}={layers:,} and holds {tensors:,} tensors.")
    if (folder / "tokenizer.json").is_file():
        padding = read_json(folder / "tokenizer.json").get("padding")
        strategy = padding.get("strategy") if isinstance(padding, dict) else None
        if isinstance(strategy, dict) and strategy.get("Fixed", 0) > _LONGEST_TEXT:
            raise BadModel(f"The tokenizer of {str(folder)!r} pads each text to {strategy['Fixed']:,} tokens.")


def check_weights(folder: Path, pattern: str) -> None:
    """Refuse a folder without safetensors; say so where there are pickles instead."""
    files = sorted(folder.glob(pattern))
    if not files:
        pickles = sorted(path.name for kind in PICKLES for path in folder.glob(kind))
        content = f"holds pickles ({', '.join(pickles[:3])}), which are never loaded" if pickles else "holds no weights"
        raise BadModel(f"The folder {str(folder)!r} {content}: save the weights there as safetensors.")
    for path in files:
        read_shapes(path)


def read_shapes(path: Path) -> dict[str, list[int]]:
    """Read the shape of every tensor of a safetensors file, by name; a torn file is refused."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            return {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - it is no mapping
    except (SafetensorError, OSError) as error:
        raise BadModel(f"The file {str(path)!r} is torn or no safetensors file: {error}.") from error


def read_json(path: Path) -> dict[str, Any]:
    """Read the object in a JSON file; anything else is refused."""
    try:
        data = json.loads(read_small(path))
    except (OSError, ValueError, RecursionError) as error:
        raise BadModel(f"The file {str(path)!r} cannot be read as JSON: {error}.") from error
    if not isinstance(data, dict):
        raise BadModel(f"The file {str(path)!r} should hold a JSON object.")
    return data


def hub_folder(ref: ModelRef) -> Path:
    """Find the local copy of a model of the Hub, fetched first where the network may be used.

    Pickles are not fetched.
    """
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import CachedRepoTreeNotFoundError, HFValidationError, RevisionResolutionError

    offline = bool(constants.HF_HUB_OFFLINE)
    try:
        folder = snapshot_download(
            ref.where,
            revision=ref.revision,
            local_files_only=offline,
            allow_patterns=_WANTED,
            ignore_patterns=["*/*"],
        )
    except (HFValidationError, CachedRepoTreeNotFoundError, RevisionResolutionError, OSError) as error:
        if offline:
            why = "is not in the local cache, and HF_HUB_OFFLINE forbids fetching it"
        else:
            why = f"could not be fetched ({type(error).__name__})"
        raise BadModel(f"The model {ref.base} {why}: check the name, or download it once and say dir:PATH.") from error
    return check_folder(Path(folder))


def fingerprint(*paths: Path) -> str:
    """Compute sixteen characters that change with the files' names, sizes and contents, wherever the files lie."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(paths, key=lambda path: path.name):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        _sample(path, digest)
    return digest.hexdigest()


def _sample(path: Path, digest: Any) -> None:
    """Sample evenly spaced pieces: a large model need not be read twice, and training changes every piece."""
    size = path.stat().st_size
    step = max(_CHUNK, -(-size // _CHUNKS))
    with path.open("rb") as file:
        for start in range(0, size, step):
            file.seek(start)
            digest.update(file.read(_CHUNK))


def folder_fingerprint(folder: Path) -> str:
    """Return the fingerprint of a model: its weights, its configuration and its tokenizer."""
    names = ("config.json", *_TOKENIZERS)
    return fingerprint(*folder.glob("*.safetensors"), *(path for name in names if (path := folder / name).is_file()))
