"""Trained models from the package `stratagem-zoo`: `zoo:kuhn-sepo`, or `zoo:kuhn-sepo@start` before its training.

A model of the zoo is the folder of a run with its models alone, so it is read like a run. The package is found without
being imported.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from stratagem.models.reference import BadModel

PACKAGE = "stratagem_zoo"
INSTALL = "make zoo builds it, and pip install zoo/dist/stratagem_zoo-*.whl installs it"
_MODELS = "models.json"


def zoo_models() -> dict[str, Path]:
    """Return the folders of the installed models by name; empty where the package is not installed."""
    spec = find_spec(PACKAGE)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    return {path.parent.name: path.parent for folder in folders for path in sorted(folder.glob(f"*/{_MODELS}"))}


def zoo_folder(name: str) -> Path:
    """Return the folder of a model."""
    models = zoo_models()
    if not models:
        raise BadModel(f"The model zoo:{name} comes in the package stratagem-zoo, which is not installed: {INSTALL}.")
    if name not in models:
        raise BadModel(f"The zoo has no model {name!r}: it has {', '.join(models)}.")
    return models[name]
