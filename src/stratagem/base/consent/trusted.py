"""Trusted folders: what a file in one of them names may run, be contacted and be read, and nobody is asked.

Trust is by place, as in editors and `direnv`: a file may be edited, and stays trusted. A folder counts while it, and
every folder below it down to the file, belongs to the user and cannot be written by others.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stratagem.base.errors import BadParameter
from stratagem.base.files import write_file

_LIST = "trusted.json"
_PACKAGE = Path(__file__).resolve().parents[2]
_SHIPPED = (_PACKAGE, (_PACKAGE / "recipes").resolve())
"""Folders of the package; in the repository its recipes are a link to another folder."""


def config_folder() -> Path:
    """Return the folder of the user's settings: $STRATAGEM_CONFIG, or ~/.config/stratagem."""
    if named := os.environ.get("STRATAGEM_CONFIG"):
        return Path(named)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "stratagem"


def trusted_folders() -> list[Path]:
    """Return the trusted folders; none where another user could have written their list."""
    path = config_folder() / _LIST
    try:
        listed = json.loads(path.read_text("utf-8")) if is_private(path) else []
        return [Path(folder) for folder in listed if isinstance(folder, str)] if isinstance(listed, list) else []
    except (OSError, ValueError, RecursionError):
        return []


def trust_folder(folder: Path) -> Path:
    """Add a folder to the trusted ones, and return its resolved path."""
    path = folder.resolve()
    if not path.is_dir():
        raise BadParameter(f"{folder} is no folder: trust the folder that holds your recipes and files.")
    if Path.home().resolve().is_relative_to(path):
        raise BadParameter(f"{path} holds all that you download: trust a folder of your own below it.")
    if not is_private(path):
        raise BadParameter(f"{path} belongs to another user or can be written by others: trust a folder of your own.")
    _store(dict.fromkeys([*trusted_folders(), path]))
    return path


def forget_folder(folder: Path) -> Path:
    """Remove a folder from the trusted ones, and return its resolved path."""
    path, known = folder.resolve(), trusted_folders()
    if path not in known:
        listed = ", ".join(map(str, known)) or "none"
        raise BadParameter(f"{path} is no trusted folder: the trusted ones are {listed}.")
    _store(dict.fromkeys(one for one in known if one != path))
    return path


def _store(folders: dict[Path, None]) -> None:
    path = config_folder() / _LIST
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_file(path, json.dumps(list(map(str, folders)), indent=1) + "\n")
    path.chmod(0o600)


def is_trusted(path: Path) -> bool:
    """Return whether a file lies in a trusted folder, or ships with the package."""
    with suppress(OSError, ValueError, RuntimeError):  # a link to itself, or a character that no path has
        whole = path.resolve()
        return any(map(whole.is_relative_to, _SHIPPED)) or any(_holds(folder, whole) for folder in trusted_folders())
    return False


def is_of_package(path: Path) -> bool:
    """Return whether a file is a module of the package itself."""
    return path.is_relative_to(_PACKAGE) and path.suffix == ".py"


def _holds(folder: Path, path: Path) -> bool:
    return path.is_relative_to(folder) and all(map(is_private, _down(folder, path)))


def _down(folder: Path, path: Path) -> Iterator[Path]:
    """Yield a folder and all that lies on the way to a path."""
    yield folder
    for part in path.relative_to(folder).parts:
        folder /= part
        yield folder


def is_private(path: Path) -> bool:
    """Return whether a path belongs to the user or the administrator, and others cannot write it."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    if not hasattr(os, "getuid"):  # a system without owners
        return True
    by_others = status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid))
    return status.st_uid in (os.getuid(), 0) and not by_others


def _is_own_group(group: int) -> bool:
    """Return whether a group has the user alone: many systems give each user one, and let it write all files."""
    import grp
    import pwd

    try:
        user, entry = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return entry.gr_name == user and set(entry.gr_mem) <= {user}
