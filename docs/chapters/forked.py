"""Programs that share one start: libraries are read in once, and every program runs in a fork of that process.

A program is asked for by a line of JSON (its arguments, as `python` takes them after `-u`, the folder in which it runs,
a folder of further packages, and a file for what it prints) and is answered by a line with that file, its exit status
and its processor time. What one program does is not seen by the next.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import ClassVar

READ_IN = (
    "stratagem.cli.main",
    "stratagem.api.evaluations",
    "stratagem.algorithms.catalogue",
    "pyarrow",
    "transformers.models.llama.modeling_llama",
    "peft",
    "stratagem.show.viewer.app",
)
"""Modules to import before the first program; that takes seconds, and nothing of it runs before a fork."""


class Programs:
    """A process that runs programs, one after the other, until this one ends."""

    seconds: ClassVar[float] = 0.0
    """Processor time of all programs that were run; the libraries are not in it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-u", __file__],
            env={**environment, "TOKENIZERS_PARALLELISM": "false"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._owner = os.getpid()
        self._lock = TemporaryFile()  # noqa: SIM115 - it is open for as long as this process
        atexit.register(self._end)

    def _end(self) -> None:
        """Wait for the end of the process, which ends where nothing more comes; forks of the owner leave it to run."""
        if os.getpid() == self._owner:
            self._process.communicate()

    def run(self, arguments: Sequence[str], work: Path, packages: Path) -> tuple[int, str]:
        """The exit status of a program and all that it printed; forks of the owner take turns."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        printed = packages.parent / "printed.txt"
        asked = [*arguments, *map(str, (work, packages, printed))]
        with self._turn():
            print(json.dumps(asked), file=self._process.stdin, flush=True)
            answered = ""
            while answered != str(printed):  # a fork that died has left an answer
                answered, status, seconds = json.loads(self._process.stdout.readline())
        Programs.seconds += seconds
        return status, printed.read_text(encoding="utf-8")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)


def serve() -> None:
    """Run what is asked for until nothing more comes."""
    gc.disable()
    for name in READ_IN:
        with suppress(ModuleNotFoundError):  # an environment may lack the extra; a program that needs it says so
            import_module(name)
    gc.freeze()  # in every fork a collection would look at all of it, and copy it
    gc.enable()
    for line in sys.stdin:
        *arguments, work, packages, printed = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(work)
            sys.path[:1] = ["", packages]
            _become(arguments, printed)
        _, status, used = os.wait4(child, 0)
        seconds = used.ru_utime + used.ru_stime
        print(json.dumps([printed, os.waitstatus_to_exitcode(status), seconds]), flush=True)


def _become(arguments: Sequence[str], printed: str) -> None:
    """Be the program `-c SOURCE ARGUMENTS...`, and end with it."""
    out = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, way in ((0, os.open(os.devnull, os.O_RDONLY)), (1, out), (2, out)):
        os.dup2(way, stream)
    _, source, *rest = arguments
    sys.argv = ["-c", *rest]
    sys.modules["__main__"] = program = ModuleType("__main__")
    os._exit(_status(source, program))


def _status(source: str, program: ModuleType) -> int:
    status = 0
    try:
        exec(compile(source, "<string>", "exec"), program.__dict__)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - whatever it is, it ends this program only
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    serve()
