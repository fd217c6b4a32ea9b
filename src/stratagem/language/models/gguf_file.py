"""GGUF file, de-quantised once and cached as safetensors, since the conversion takes long and the loading does not.

Training and exact probabilities need plain tensors, so a quantised file gives the weights that it stands for.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from stratagem.base.cache import cached_folder
from stratagem.base.errors import MissingExtra
from stratagem.language.models.folder import fingerprint
from stratagem.language.models.quiet import quietly
from stratagem.language.models.reference import BadModel

VERSION = 1
"""Version of the conversion; raised when a new conversion would differ from a cached one."""


def gguf_folder(path: Path) -> Path:
    """Return the folder that a GGUF file was converted into, converted now if needed."""
    check_file(path)
    if find_spec("gguf") is None:
        raise MissingExtra("A GGUF file", "models")
    return cached_folder(f"gguf-v{VERSION}-{path.stem}-{fingerprint(path)}", lambda folder: _convert(path, folder))


def check_file(path: Path) -> None:
    """Refuse a path at which there is no file."""
    if not path.is_file():
        raise BadModel(f"There is no file {str(path)!r}: gguf: takes the path of a GGUF file.")


def _check(path: Path) -> None:
    """Read the whole directory of the file: a torn one is refused here and not halfway through."""
    from gguf import GGUFReader

    try:
        tensors = GGUFReader(path).tensors
    except Exception as error:  # the reader believes every length that the file tells
        raise BadModel(
            f"The file {str(path)!r} is torn or no GGUF file: fetch it again ({_error_in_words(error)})."
        ) from error
    if not tensors:
        raise BadModel(f"The file {str(path)!r} holds a vocabulary and no weights.")


def _convert(path: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    _check(path)
    source = {"gguf_file": path.name, "trust_remote_code": False}
    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(path.parent, **source)
            model = AutoModelForCausalLM.from_pretrained(path.parent, **source, dtype=torch.float32)
    except Exception as error:  # a wrong type in its metadata breaks anything
        raise BadModel(f"transformers cannot read {str(path)!r}: {_error_in_words(error)}.") from error
    _forget_quantisation(model)
    with quietly():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _error_in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".rstrip(".: ")


def _forget_quantisation(model: object) -> None:
    """Remove the quantisation from the configuration.

    The tensors are plain now, and the model would refuse to be saved.
    """
    for owner, name in ((model, "hf_quantizer"), (getattr(model, "config", None), "quantization_config")):
        if hasattr(owner, name):
            delattr(owner, name)
    setattr(model, "is_quantized", False)  # noqa: B010 - transformers declares no such field
