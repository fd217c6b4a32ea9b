"""Cache folder: it holds results that can be computed again, each of them complete or absent."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from stratagem.base.files import telling


def cache_folder() -> Path:
    """Return the cache folder: $STRATAGEM_CACHE, or ~/.cache/stratagem."""
    return Path(os.environ.get("STRATAGEM_CACHE") or Path.home() / ".cache" / "stratagem")


def cached_folder(name: str, make: Callable[[Path], None]) -> Path:
    """Return the cached folder of this name.

    Where there is none, `make` fills an empty one, which then gets the name.
    """
    folder = cache_folder() / name
    if not folder.is_dir():
        make_folder(folder, make)
    return folder


def make_folder(folder: Path, make: Callable[[Path], None]) -> None:
    """Fill a temporary folder and rename it, so that it appears whole; the first of several writers wins."""
    with telling(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
        try:
            make(temporary)
            temporary.chmod(0o755)
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
