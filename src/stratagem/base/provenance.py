"""Provenance of a figure: the program and its commit, its libraries, and the machine."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from stratagem import __version__

_PACKAGES = ("open-spiel", "numpy", "pyarrow", "torch", "transformers", "tokenizers", "peft")


def provenance() -> dict[str, Any]:
    """Return the program's version and commit, its libraries, the machine, and the command as a shell takes it."""
    return {
        "stratagem": __version__,
        **source(),
        "python": platform.python_version(),
        "packages": {name: number for name in _PACKAGES if (number := _version(name))},
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "command": " ".join([_program(sys.argv[0]), *map(shlex.quote, sys.argv[1:])]),
    }


def _program(called: str) -> str:
    """Return the command of a program: a script by its path, without a machine's folders; anything else by its name."""
    if not called.endswith(".py") or Path(called).name == "__main__.py":
        return "stratagem"
    return f"python {Path(called).name if Path(called).is_absolute() else called}"


@cache  # as for the source
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache  # what runs is what was loaded, whatever becomes of the tree meanwhile
def source(folder: Path = Path(__file__).parents[1]) -> dict[str, Any]:
    """Return the commit of the program and whether its tree differs from that.

    None where git does not keep the program.
    """
    # an installed copy may lie inside a repository that is somebody else's, whose commit would say nothing
    if _git(folder, "ls-files", "--error-unmatch", "__init__.py") is None or not (
        head := _git(folder, "rev-parse", "HEAD")
    ):
        return {"commit": None, "dirty": None}
    return {"commit": head, "dirty": _git(folder, "status", "--porcelain") != ""}


def _git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git; None where there is no git, or it refuses."""
    try:
        run = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()
