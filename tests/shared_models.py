"""The built-in models of the tests: each is loaded once in a process, and what asks for it is given a copy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from pathlib import Path
from typing import Any


def share_models() -> None:
    """Have the built-in models copied from here on, where the module that loads them was imported."""
    module = sys.modules.get("stratagem.language.models.load")
    if module is not None and not hasattr(module._model, "__wrapped__"):
        module._model = copied(module._model, module.BUILT_IN)


def copied(load: Callable[..., Any], kinds: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function that loads a model of these kinds once for each state of its files, and then copies it."""
    kept: dict[tuple[Any, ...], Any] = {}

    @wraps(load)
    def model(ref: Any, folder: Path, device: str, dtype: str) -> Any:
        if ref.kind not in kinds:
            return load(ref, folder, device, dtype)
        files = tuple((path.name, path.stat().st_mtime_ns) for path in sorted(folder.iterdir()))
        key = (ref.kind, ref.four_bit, str(folder), files, device, dtype)
        if key not in kept:
            kept[key] = load(ref, folder, device, dtype)
        return deepcopy(kept[key])

    return model
