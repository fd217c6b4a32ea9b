"""Figures as a JSON file, which has no NaN and no infinity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stratagem.base.files import finite, telling, write_file


def write_json(data: Any, path: Path) -> None:
    """Write JSON, and make the folders above it."""
    with telling(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(finite(data), indent=2, ensure_ascii=False) + "\n")
