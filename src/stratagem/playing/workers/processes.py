"""Processes on this machine as workers: the standard library's pool, made again when a process is lost."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.file_modules import HandedFiles, broken_files, handed_files, load_again
from stratagem.playing.workers.base import Item, Parcel, Result, Workers
from stratagem.playing.workers.threads import use_threads

_LOSSES = 3
"""Number of lost processes in a row, without a result in between, that end the work."""
_LONGEST = 2048
"""Largest number of bytes of a result that is sent as a message, which a pipe takes whole."""


@dataclass(frozen=True)
class FolderParcel:
    """Files in a folder that all processes of this machine can read."""

    folder: Path

    @contextmanager
    def unpack_files(self) -> Iterator[Path]:
        """Provide the folder with the files."""
        yield self.folder

    def drop(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


class WorkersLost(StratagemError):
    """Processes that ended again and again, so that the work cannot be done."""


class Processes(Workers):
    """Processes on this machine, each with its own copies of engines; a lost one is replaced, and its work repeated."""

    def __init__(self, num_workers: int, num_threads: int = 1) -> None:
        if num_workers < 1:
            raise BadParameter(f"Work needs at least one process, not {num_workers}.")
        self._number = num_workers
        self._num_threads = num_threads
        self.shared_folder = Path(tempfile.mkdtemp(prefix="stratagem-workers-"))
        """Folder with the files that processes share: weights, and long results."""
        self._numbers = count()
        self._pool: ProcessPoolExecutor | None = None
        self._stop: Connection | None = None
        self._closed = False
        self._handed = handed_files()
        self._changing = threading.Lock()
        """Held while the pool is begun or ended: rollouts and gradients may be computed at the same time."""

    @property
    def num_workers(self) -> int:
        return self._number

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        left, losses = dict(enumerate(items)), 0
        while left:
            pool = self._begin_pool()
            try:
                for index, result in play_round(pool, work, left):
                    del left[index]
                    losses = 0
                    yield index, result
            except BrokenProcessPool as error:
                losses += 1
                self._note_loss(pool, losses, len(left), error)

    def run_on_each(self, work: Callable[[Item], Result], item: Item) -> list[Result]:
        for losses in range(1, _LOSSES + 1):
            pool = self._begin_pool()
            try:
                futures = [submit_call(pool, _do_beside_others, work, item) for _ in range(self._number)]
                # Python looks for lost processes before it starts the last one. While all wait for each other there is
                # no result that makes it look again, and a further call does.
                submit_call(pool, int)
                return [read_result(future) for future in futures]
            except BrokenProcessPool as error:
                self._note_loss(pool, losses, self._number, error)
        raise AssertionError("the last loss raises an error")

    def _note_loss(self, pool: ProcessPoolExecutor, losses: int, num_left: int, error: BrokenProcessPool) -> None:
        """End a pool that lost a process; an error where the workers were ended, or were lost too often in a row."""
        self._end(pool)
        if self._closed:
            raise WorkersLost("The workers were ended while they had work.") from error
        if losses == _LOSSES:
            raise WorkersLost(
                f"{losses} worker processes ended in a row while {num_left} units of work were left: they may "
                "need more memory than there is, so take fewer `workers=`."
            ) from error

    def _begin_pool(self) -> ProcessPoolExecutor:
        if self._pool is not None and not self._handed.covers(handed_files()):
            self._end(self._pool)  # more files have been named since it was begun
        with self._changing:
            if self._pool is None:
                context, self._handed = multiprocessing.get_context("spawn"), deepcopy(handed_files())
                ends, self._stop = context.Pipe(duplex=False)
                numbers, meeting = context.Value("i", 0), context.Barrier(self._number)
                begin = Begin(
                    ends,
                    self._num_threads,
                    self._handed,
                    visible_devices(),
                    numbers,
                    _hook(),
                    meeting,
                    self.shared_folder,
                )
                self._pool = ProcessPoolExecutor(self._number, context, initializer=begin)
            return self._pool

    def _end(self, pool: ProcessPoolExecutor | None) -> None:
        """End the processes of a pool at once: each watches a pipe, and ends when this side is closed."""
        with self._changing:
            if pool is not None and pool is self._pool and self._stop is not None:
                self._stop.close()
                pool.shutdown(cancel_futures=True)
                self._pool = self._stop = None

    def put(self, folder: Path) -> Parcel:
        own = self.shared_folder / str(next(self._numbers))
        shutil.copytree(folder, own)
        return FolderParcel(own)

    def close(self) -> None:
        self._closed = True
        self._end(self._pool)
        shutil.rmtree(self.shared_folder, ignore_errors=True)


def submit_call(pool: ProcessPoolExecutor, call: Callable[..., Result], *given: Any) -> Future[Result]:
    """Give a call to a pool; `BrokenProcessPool` where a process is lost while this begins a further one."""
    try:
        return pool.submit(call, *given)
    except OSError:  # of a pipe that Python closes for the loss, or of a system that begins no process
        pool.submit(int)  # raises the loss, where there is one
        raise


def play_round(
    pool: ProcessPoolExecutor, work: Callable[[Item], Result], left: dict[int, Item]
) -> Iterator[tuple[int, Result]]:
    """Give out all work that is left, and yield results until all is done or a process is lost."""
    futures: dict[Future[bytes | Path], int] = {
        submit_call(pool, _do_work, work, item): index for index, item in left.items()
    }
    try:
        for future in as_completed(futures):
            yield futures[future], read_result(future)
    finally:
        for future in futures:
            future.cancel()


def read_result(future: Future[bytes | Path]) -> Any:
    """Wait for a unit of work, and return its result."""
    sent = future.result()
    if isinstance(sent, bytes):
        return ForkingPickler.loads(sent)
    try:
        data = sent.read_bytes()
    except FileNotFoundError as error:  # the workers were ended meanwhile
        raise BrokenProcessPool(f"The result in {sent} is gone.") from error
    sent.unlink(missing_ok=True)
    return ForkingPickler.loads(data)


def _do_work(work: Callable[[Item], Result], item: Item) -> bytes | Path:
    """Do a unit of work in a worker process; a long result is written to a file.

    Nobody notices that a process is lost in the middle of a message: it would be waited for. A short one is whole.
    """
    with broken_files():
        data = bytes(ForkingPickler.dumps(work(item)))
    if len(data) <= _LONGEST:
        return data
    number, path = tempfile.mkstemp(prefix="result-", dir=_folders[-1])
    with os.fdopen(number, "wb") as file:
        file.write(data)
    return Path(path)


_folders: list[Path] = []
"""Folder for the results of this pool, in a worker process."""
_meetings: list[Barrier] = []
"""Barrier of the processes of this pool, in a worker process."""


def _do_beside_others(work: Callable[[Item], Result], item: Item) -> bytes | Path:
    """Do a unit of work once every process of the pool has taken one, so that none takes two."""
    _meetings[-1].wait()
    return _do_work(work, item)


@dataclass
class Begin:
    """Beginning of a worker process."""

    ends: Connection
    """Pipe whose other side is closed when the process is to end."""
    num_threads: int
    given: HandedFiles
    """Python files that the user names, and what is allowed."""
    devices: tuple[str, ...] = ()
    """GPUs that the processes share; without any, each sees all of them."""
    numbers: Any = None
    """Shared counter, from which each process takes its number."""
    hook: Callable[..., None] | None = None
    """Function that prints warnings; None for that of Python."""
    meeting: Barrier | None = None
    """Barrier at which all processes of the pool wait for each other."""
    results: Path | None = None
    """Folder for long results."""

    def __call__(self) -> None:
        if self.hook is not None:
            warnings.showwarning = self.hook
        if self.meeting is not None:
            _meetings.append(self.meeting)
        if self.results is not None:
            _folders.append(self.results)
        load_again(self.given)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=self._watch, daemon=True).start()
        use_threads(self.num_threads)
        if self.devices:
            with self.numbers.get_lock():
                number, self.numbers.value = self.numbers.value, self.numbers.value + 1
            os.environ["CUDA_VISIBLE_DEVICES"] = self.devices[number % len(self.devices)]

    def _watch(self) -> None:
        """End this process as soon as the one that began it is gone, or ends its workers."""
        try:
            self.ends.recv()
        except (EOFError, OSError):
            os._exit(0)


def _hook() -> Callable[..., None] | None:
    """Return the function by which this process prints warnings, if another process can import it."""
    hook = warnings.showwarning
    owner = sys.modules.get(getattr(hook, "__module__", ""))
    return hook if getattr(owner, getattr(hook, "__name__", ""), None) is hook else None


def visible_devices() -> tuple[str, ...]:
    """Return the names of the GPUs that this process may use, which its workers take in turn."""
    if (named := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return tuple(name for name in named.split(",") if name)
    return tuple(sorted(path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*")))
