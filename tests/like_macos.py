"""Stand-in for macOS: `pytest --like-macos` runs the suite without what only Linux has.

Removed are functions of `os` that macOS does not have and, for the code of the package, everything below /proc. Every
folder that a test writes is checked for two names that a file system which ignores case would take for one. Programs
that tests start get the same stand-in by a `sitecustomize` on their path.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

LINUX_ONLY = (
    *("sched_getaffinity", "sched_setaffinity", "sched_getparam", "sched_setparam", "sched_getscheduler"),
    *("sched_setscheduler", "sched_rr_get_interval", "pidfd_open", "memfd_create", "eventfd", "eventfd_read"),
    *("eventfd_write", "copy_file_range", "splice", "getrandom", "posix_fadvise", "posix_fallocate", "fdatasync"),
    *("getresuid", "getresgid", "setresuid", "setresgid"),
    *("pipe2", "unshare", "setns"),
)
"""Functions of `os` that macOS does not have; those of extended attributes stay, since `shutil` has bound them."""
PACKAGE = str(Path(__file__).parents[1] / "src" / "stratagem")
_LIBRARY = str(Path(os.__file__).parent)
"""Folder of Python's own library; that of installed packages may lie in it."""


def pretend() -> None:
    """Take from this process what only Linux has."""
    for name in LINUX_ONLY:
        if hasattr(os, name):
            delattr(os, name)
    for owner, name in ((builtins, "open"), (os, "open"), (os, "stat"), (os, "listdir"), (os, "scandir")):
        setattr(owner, name, without_proc(getattr(owner, name)))


def without_proc(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that finds nothing below /proc where the package calls it."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        path = args[0] if args else kwargs.get("path", kwargs.get("file", ""))
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith("/proc") and _is_called_by_package():
            raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
        return function(*args, **kwargs)

    return answer


def _is_called_by_package() -> bool:
    """Return whether the nearest frame outside Python's own library is one of the package."""
    frame = sys._getframe(2)
    while frame is not None and _is_of_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(PACKAGE)


def _is_of_library(file: str) -> bool:
    return file.startswith((_LIBRARY, "<frozen")) and "site-packages" not in file


def pass_on() -> None:
    """Give the programs that this one starts the same stand-in."""
    folder = mkdtemp(prefix="like-macos-")
    begin = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport like_macos; like_macos.pretend()\n"
    Path(folder, "sitecustomize.py").write_text(begin, "utf-8")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))


def names_that_differ_by_case(folder: Path) -> Iterator[str]:
    """Yield the entries of all folders below that differ from another entry of theirs by case alone."""
    for parent, folders, files in os.walk(folder):
        counts = Counter(name.casefold() for name in (*folders, *files))
        yield from (str(Path(parent, name)) for name in (*folders, *files) if counts[name.casefold()] > 1)


class LikeMacos:
    """Plugin that skips the tests of what only Linux has, and looks at the names of written files."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip a test that is marked `linux`."""
        if "linux" in item.keywords:
            pytest.skip("needs Linux")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Fail a test that wrote two names that differ by case alone."""
        folder = getattr(item, "funcargs", {}).get("tmp_path")
        same = sorted(names_that_differ_by_case(folder)) if folder is not None else []
        yield
        if same:
            pytest.fail(f"a file system that ignores case takes these for one: {', '.join(same)}")
