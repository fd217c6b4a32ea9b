"""Compiler of the kernels: numba where it is installed; without it they run as plain Python."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from stratagem.base.cache import cache_folder

F = TypeVar("F", bound=Callable[..., Any])


@lru_cache(maxsize=1)
def is_compiled() -> bool:
    """Return whether numba is installed."""
    return find_spec("numba") is not None


def compile_lazily(function: F) -> F:
    """Compile a kernel on its first call.

    Machine code is cached by the digest of all kernels, since numba looks at the file of one function only and would
    keep a caller of changed code.
    """
    if not is_compiled():
        return function
    import numba

    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_folder() / "numba" / _digest())
    try:
        result: F = numba.njit(cache=True)(function)
    finally:
        numba.config.CACHE_DIR = before
    return result


@lru_cache(maxsize=1)
def _digest() -> str:
    """Return the digest of the sources of all kernels."""
    import numba

    root = Path(__file__).parents[3]
    folders = (root / "games" / "diplomacy" / "fast", root / "players" / "diplomacy" / "fast")
    texts = [path.read_bytes() for folder in folders for path in sorted(folder.glob("*.py"))]
    return hashlib.sha256(b"\0".join([numba.__version__.encode(), *texts])).hexdigest()[:16]
