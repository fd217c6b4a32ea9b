"""Folders that appear whole or not at all, as files do, also when the process is killed or the machine stops.

What is being written or removed has a name that begins with `.partial-`, which nobody reads and a resume removes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.files import PARTIAL, finite, parse_json, read_small, sync, telling, write_file

__all__ = [
    "PARTIAL",
    "move",
    "new_folder",
    "number_paths",
    "remove_folder",
    "remove_leftovers",
    "sync",
    "telling",
    "write_file",
    "write_json_once",
]


def new_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` fill a temporary folder and rename it; where there is something already, nothing is changed."""
    with telling(folder):
        if folder.exists():
            raise StratagemError(f"{folder} exists already: give another name.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(mkdtemp(dir=folder.parent, prefix=PARTIAL))
        try:
            fill(temporary)
            temporary.chmod(0o755)
            sync(*temporary.rglob("*"), temporary)
            temporary.rename(folder)
            sync(folder.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def write_json_once(path: Path, make: Callable[[], Any]) -> None:
    """Write what `make` returns as JSON, with null for NaN; an existing file is kept, and a damaged one is refused."""
    if not path.exists():
        write_file(path, json.dumps(finite(make()), indent=1) + "\n")
        return
    try:
        parse_json(read_small(path))
    except (OSError, ValueError) as error:
        raise BadRecord(f"{path} cannot be read as JSON: remove it, and `--resume` makes it anew.") from error


def move(path: Path, target: Path) -> None:
    """Move a file or a folder, and make the parent folder of its new path if it is missing."""
    with telling(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        sync(path.parent, target.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder: its name is gone at once, and its content soon after."""
    gone = Path(mkdtemp(dir=folder.parent, prefix=PARTIAL))
    move(folder, gone / folder.name)
    shutil.rmtree(gone)


def remove_leftovers(folder: Path) -> None:
    """Remove all temporary files and folders that a killed process left in the folder."""
    for path in [*folder.rglob(f"{PARTIAL}*"), *folder.rglob("*.partial")]:  # the second are the record's
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)  # it may have gone with its folder


def number_paths(paths: Iterable[Path], prefix: str) -> dict[int, Path]:
    """Return the paths of this name with a number at the end, in ascending order."""
    ends = ((path.name.removeprefix(prefix), path) for path in paths if path.name.startswith(prefix))
    return dict(sorted((int(end), path) for end, path in ends if end.isdecimal()))
