"""Ranks of torch's launcher as workers: the first runs the program, and the others serve it.

The first rank sends a function and an argument to each rank, every rank carries it out, and the first one gathers the
results. So there is one loop, one run folder and one place of every decision, however many ranks there are. A function
may be a unit of work on one rank, such as a shard of tables, or a step that all take together, such as a forward pass
over sharded weights.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.base.file_modules import HandedFiles, broken_files, handed_files, load_again
from stratagem.playing.workers.base import Item, Parcel, Result, Workers
from stratagem.playing.workers.models import work_at_home
from stratagem.playing.workers.plan import current
from stratagem.playing.workers.processes import FolderParcel, visible_devices

_PATIENCE = timedelta(days=30)
"""Longest wait for another rank: the first may wait long for a server, and torch's launcher notices a lost rank."""


_control: list[Any] = []
"""Group of all ranks for messages, which never wait for a GPU."""


class RankPlace(NamedTuple):
    """Place of this process among those that torch's launcher began."""

    rank: int
    size: int
    local_rank: int


def find_place() -> RankPlace | None:
    """Return the place of this process; None outside of torch's launcher, or where it began one process alone."""
    try:
        rank, size, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    except (KeyError, ValueError):
        return None
    if int(os.environ.get("LOCAL_WORLD_SIZE", size)) != size:
        raise StratagemError("Training on the devices of several machines is not supported: take one, `--nnodes 1`.")
    return RankPlace(rank, size, local) if size > 1 else None


def join(place: RankPlace) -> None:
    """Join the process group: each rank sees one GPU, where there are any; a rank without one is refused."""
    if devices := visible_devices():
        if place.size > len(devices):
            raise StratagemError(f"This machine has {len(devices)} GPUs, and {place.size} devices are asked for.")
        os.environ["CUDA_VISIBLE_DEVICES"] = devices[place.local_rank]  # read when CUDA is first used
    import torch
    from torch import distributed

    if not distributed.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(backend, timeout=_PATIENCE)
    if not _control:
        _control.append(distributed.new_group(backend="gloo", timeout=_PATIENCE))


@dataclass(frozen=True)
class _Message:
    """Function for a rank with its argument, and the files that it may need."""

    function: Callable[[Any], Any]
    argument: Any
    files: HandedFiles | None


@dataclass(frozen=True)
class _Outcome:
    """Result of a function on a rank, or the mistake of a user that it found."""

    value: Any = None
    error: StratagemError | None = None


class RankWorkers(Workers):
    """All ranks of the process group, this one among them; made by the first."""

    beside_learner = False

    def __init__(self, place: RankPlace) -> None:
        join(place)
        self._size = place.size
        self._root = Path(tempfile.mkdtemp(prefix="stratagem-ranks-"))
        self._numbers = count()
        self._handed: HandedFiles | None = None
        self._calling = threading.Lock()
        """Held during a call: rollouts and gradients may be computed at the same time."""
        self._is_broken = False
        work_at_home()

    @property
    def num_workers(self) -> int:
        return self._size

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        shares = deal(len(items), self._size)
        given = [_Share(work, [items[index] for index in share]) for share in shares]
        for share, results in zip(shares, self.call(_do_share, given), strict=True):
            yield from zip(share, results, strict=True)

    def run_on_each(self, work: Callable[[Item], Result], item: Item) -> list[Result]:
        return [results[0] for results in self.call_alike(_do_share, _Share(work, [item]))]

    def worker_name(self, number: int) -> str:
        return f"rank {number} of {self._size}"

    def call(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """Carry out a function on every rank, each with its own argument, and return the results."""
        with self._calling:
            was, self._is_broken = self._is_broken, True  # until the call is over, the others cannot be told to end
            if was:
                raise StratagemError("The ranks were interrupted while they had work: resume the run.")
            outcomes = self._exchange(function, arguments)
            self._is_broken = False
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
        return [outcome.value for outcome in outcomes]

    def _exchange(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[_Outcome]:
        files = None
        if self._handed is None or not self._handed.covers(handed_files()):
            files = self._handed = deepcopy(handed_files())
        own = _receive([_Message(function, argument, files) for argument in arguments])
        assert own is not None
        return _gather(_carry_out(own), self._size)

    def call_alike(self, function: Callable[[Any], Any], argument: Any) -> list[Any]:
        """Carry out a function on every rank with the same argument."""
        return self.call(function, [argument] * self._size)

    def put(self, folder: Path) -> Parcel:
        own = self._root / str(next(self._numbers))
        shutil.copytree(folder, own)
        return FolderParcel(own)

    def close(self) -> None:
        """End the other ranks; one that is in the middle of a call ends when this process does."""
        shutil.rmtree(self._root, ignore_errors=True)
        if self._is_broken:
            return
        self._is_broken = True
        _receive([None] * self._size)
        _leave()


def ranks_of_plan() -> RankWorkers | None:
    """Return the ranks that the present work is shared between; None without any."""
    workers = current().workers
    return workers if isinstance(workers, RankWorkers) else None


def deal(number: int, size: int) -> list[list[int]]:
    """Deal so many items, the costliest first, to ranks: back and forth, so that the sums of their costs are alike."""
    shares: list[list[int]] = [[] for _ in range(size)]
    for index in range(number):
        turn, place = divmod(index, size)
        shares[size - 1 - place if turn % 2 else place].append(index)
    return shares


def serve(place: RankPlace) -> None:
    """Carry out what the first rank sends, until it says that all is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first rank ends its work, and then this one
    join(place)
    while True:
        try:
            message = _receive(None)
        except RuntimeError:  # the first rank is gone, and has said why
            sys.exit(1)
        if message is None:
            break
        if message.files is not None:
            load_again(message.files)
        _gather(_carry_out(message), place.size)
    _leave()


def _leave() -> None:
    """Leave the process group."""
    from torch import distributed

    _control.clear()
    distributed.destroy_process_group()


class _Share(NamedTuple):
    """Units of work of one rank."""

    work: Callable[[Any], Any]
    items: Sequence[Any]


def _do_share(share: _Share) -> list[Any]:
    with broken_files():
        return [share.work(item) for item in share.items]


def _carry_out(message: _Message) -> _Outcome:
    """Carry out a message; any error but a user's mistake ends the rank, and the launcher then ends the others."""
    try:
        return _Outcome(message.function(message.argument))
    except StratagemError as error:
        return _Outcome(error=error)


def _receive(messages: Sequence[_Message | None] | None) -> _Message | None:
    """Scatter the messages of the first rank, and return this rank's."""
    from torch import distributed

    own: list[_Message | None] = [None]
    distributed.scatter_object_list(own, None if messages is None else list(messages), src=0, group=_control[0])
    return own[0]


def _gather(outcome: _Outcome, size: int) -> list[_Outcome]:
    """Gather the outcomes of all ranks at the first; the others get an empty list."""
    from torch import distributed

    first = distributed.get_rank() == 0
    outcomes: list[Any] | None = [None] * size if first else None
    distributed.gather_object(outcome, outcomes, dst=0, group=_control[0])
    return list(outcomes or ())
