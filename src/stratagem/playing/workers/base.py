"""Workers: they take units of work, and give the results back as these are ready."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from stratagem.base.errors import StratagemError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Parcel(Protocol):
    """Files that a worker reads; it can be sent to any worker."""

    def unpack_files(self) -> AbstractContextManager[Path]:
        """Provide the folder with the files."""
        ...

    def drop(self) -> None:
        """Remove the files; no worker reads them any more."""
        ...


class Workers(ABC):
    """Workers of one kind; the result of a unit of work does not depend on the worker that does it."""

    separate: bool = True
    """True if the work is done in other processes, which need copies of engines."""

    beside_learner: bool = True
    """True if this process does none of the work, so that it can learn by its own models meanwhile."""

    @property
    @abstractmethod
    def num_workers(self) -> int:
        """Number of units of work that are done at the same time."""

    def reach(self) -> None:
        """Reach the workers, so that a cluster that is not there is refused before anything is written."""
        if self.num_workers < 1:
            raise StratagemError("There are no workers: name a number of at least 1.")

    @abstractmethod
    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        """Do the work on each item, and yield the item's index and the result, as soon as it is there."""

    @abstractmethod
    def run_on_each(self, work: Callable[[Item], Result], item: Item) -> list[Result]:
        """Do the same work once on each worker, and return the results, one a worker."""

    def worker_name(self, number: int) -> str:
        """Return the name of a worker in sentences, by the number of its result in `run_on_each`."""
        return f"worker {number + 1} of {self.num_workers}"

    @abstractmethod
    def put(self, folder: Path) -> Parcel:
        """Make the files of a folder readable for every worker; the folder may be removed afterwards."""

    @abstractmethod
    def close(self) -> None:
        """End the workers; work in progress is lost."""


class InProcess(Workers):
    """This process, one unit of work after another."""

    separate = beside_learner = False
    num_workers = 1

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        for index, item in enumerate(items):
            yield index, work(item)

    def run_on_each(self, work: Callable[[Item], Result], item: Item) -> list[Result]:
        return [work(item)]

    def put(self, folder: Path) -> Parcel:
        raise NotImplementedError("Work in this process needs no copies.")

    def close(self) -> None:
        """Do nothing: there is nobody to end."""
