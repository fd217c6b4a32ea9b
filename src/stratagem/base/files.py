"""Files that appear whole or not at all, also when the process is killed or the machine stops.

What is being written has a name that begins with `.partial-`, which nobody reads and a resumed run removes.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stratagem.base.errors import StratagemError, WriteFailed

PARTIAL = ".partial-"
LARGEST = 1 << 27
"""Largest number of bytes of a file that is read as a whole, such as `run.json`."""
_NUMBER = re.compile(r"\(os error ([0-9]+)\)|\[errno ([0-9]+)\]")
"""Error number of the disk in the message of a library."""
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG, errno.EACCES, errno.EPERM)
"""Numbers of the errors that say how a disk or a folder is, and not which path was meant."""


def write_file(path: Path, text: str) -> None:
    """Put the text under a temporary name and rename it: a reader sees what was there before, or all of it.

    A device or a pipe, such as `/dev/stdout`, is written as it is: a rename would put a file in its place.
    """
    with telling(path):
        if _is_device(path):
            path.write_text(text, encoding="utf-8")
            return
        target = path.resolve()  # a link stays one
        partial = _partial(target.parent, target.name)
        with removed_if_failed(partial):
            partial.write_text(text, encoding="utf-8")
            sync(partial)
            partial.replace(target)
        sync(target.parent)


def read_small(path: Path, largest: int = LARGEST) -> str:
    """Read the text of a file of settings or figures, without the mark that editors of Windows begin it with."""
    return read_bounded(path, largest).decode("utf-8-sig")


def read_bounded(path: Path, largest: int = LARGEST) -> bytes:
    """Read a file; one that is larger than any of its kind raises a `ValueError`.

    A folder of a stranger may hold a file of many gigabytes that takes no room on its disk, or a pipe, which would be
    waited for. A pipe of the shell, as of `<(...)`, lies in /dev.
    """
    if path.is_fifo() and path.parts[1:2] != ("dev",):
        raise ValueError("it is a pipe")
    with path.open("rb") as file:
        larger = os.fstat(file.fileno()).st_size > largest  # of such a file nothing is read
        data = b"" if larger else file.read(largest + 1)
    if larger or len(data) > largest:
        raise ValueError(f"it is larger than {largest >> 20} MiB")
    return data


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; what is nested too deeply raises a `ValueError`, as other damage does."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; what is nested too deeply raises a `ValueError`, as other damage does."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def finite(data: Any) -> Any:
    """Return the same data with null in place of NaN and infinities, which JSON does not have."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def write_json(data: Any, path: Path) -> None:
    """Write JSON, and make the folders above it."""
    with telling(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(finite(data), indent=2, ensure_ascii=False) + "\n")


def check_writable(path: Path) -> None:
    """Refuse what `write_file` could not write, before the work whose figures it takes; nothing is left there."""
    with telling(path):
        if _is_device(path):
            return
        above = next(parent for parent in path.resolve().parents if parent.exists())
        probe = _partial(above, path.name)
        probe.touch()
        probe.unlink()


def _partial(folder: Path, name: str) -> Path:
    return folder / f"{PARTIAL}{os.getpid()}-{name}"  # another process may write this file, too


def _is_device(path: Path) -> bool:
    """Return whether a path is a device or a pipe; a folder is refused."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return path.exists() and not path.is_file()


def sync(*paths: Path) -> None:
    """Wait until files, or the names in folders, are on the disk."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def reason(error: Exception) -> str:
    """Return why a file cannot be read, without the number and the path that an error of the disk repeats."""
    if isinstance(error, UnicodeDecodeError):
        return "it is no text in UTF-8"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


@contextmanager
def removed_if_failed(partial: Path) -> Iterator[None]:
    """Remove a file that could not be written as a whole: on a full disk it would take the last of the room."""
    try:
        yield
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turn errors of the disk, of Python and of libraries, into one sentence about the file that is written here."""
    try:
        yield
    except Exception as error:
        number = error_number(error)
        if not isinstance(error, OSError) and number is None:
            raise
        raise WriteFailed(path, _obstacle(path) or _reason(error, number), number) from error


@contextmanager
def telling_below(folder: Path) -> Iterator[None]:
    """Turn errors of the disk into one sentence, wherever they come from while the content of a folder is written.

    It names the file, or the folder where the error names none. An error about a file elsewhere stays, and so does one
    that a mistaken name can cause.
    """
    try:
        yield
    except Exception as error:
        if (failed := failed_write(error, folder)) is None:
            raise
        raise failed from error


def failed_write(error: Exception, folder: Path | None = None) -> WriteFailed | None:
    """Return the sentence about an error of the disk; None for any other error, and for a file outside the folder."""
    number, name = error_number(error), getattr(error, "filename2", None) or getattr(error, "filename", None)
    if isinstance(error, StratagemError) or number not in _OF_THE_DISK or (name is None and folder is None):
        return None
    if (
        folder is not None
        and name is not None
        and not Path(os.fsdecode(name)).absolute().is_relative_to(folder.absolute())
    ):
        return None
    return WriteFailed(folder if name is None else os.fsdecode(name), _reason(error, number), number)


def error_number(error: Exception) -> int | None:
    """Return the number of an error of the disk; libraries in C++ and Rust raise errors of their own, with it."""
    if isinstance(error, OSError) and error.errno:
        return error.errno
    found = _NUMBER.search(str(error))
    return int(found[1] or found[2]) if found else None


def _reason(error: Exception, number: int | None) -> str:
    return os.strerror(number) if number else str(error).strip().splitlines()[0].rstrip(".")


def _obstacle(path: Path) -> str:
    """Name the file or link that stands where this path or a folder above it would have to be; empty without one."""
    for part in (path, *path.parents):
        if os.path.islink(part) and not os.path.exists(part):  # noqa: PTH110, PTH114 - they raise nothing
            return f"{part} is a link that leads nowhere"
        if part != path and os.path.isfile(part):  # noqa: PTH113 - it raises nothing
            return f"{part} is a file and no folder"
    return ""
