"""Figures as a JSON file, which has no NaN and no infinity."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from stratagem.files import telling, write_file


def write_json(data: Any, path: Path) -> None:
    """Write JSON, and make the folders above it."""
    with telling(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(finite(data), indent=2, ensure_ascii=False) + "\n")


def finite(data: Any) -> Any:
    """Return the same data with null in place of NaN and infinities, which JSON does not have."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
