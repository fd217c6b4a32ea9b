"""Plan of parallel work: the workers, and the number of tables in a shard.

The shards follow from the plan and not from the number of workers. So neither the number of workers nor their order
changes a byte of the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.playing.workers.base import InProcess, Workers
from stratagem.playing.workers.threads import available_threads

TABLES = 64
"""Number of tables in a shard where no engine names its rows."""


@dataclass(frozen=True, kw_only=True)
class WorkersPlan:
    """Workers, and the size of the shards of tables that they play."""

    workers: Workers
    tables_per_shard: int = TABLES
    num_threads: int = 0
    """Number of threads of each worker; 0 shares those of this machine between the workers."""

    def __post_init__(self) -> None:
        if self.tables_per_shard < 1:
            raise BadParameter(f"A shard has at least one table, not {self.tables_per_shard}.")

    @property
    def threads_per_worker(self) -> int:
        """Number of threads of each worker."""
        return self.num_threads or max(1, available_threads() // self.workers.num_workers)


_plans: list[WorkersPlan] = [WorkersPlan(workers=InProcess())]


def current() -> WorkersPlan:
    """Return the plan of the work that begins now."""
    return _plans[-1]


@contextmanager
def change_plan(**fields: Any) -> Iterator[None]:
    """Change fields of the plan within."""
    _plans.append(replace(current(), **fields))
    try:
        yield
    finally:
        _plans.pop()


@contextmanager
def working(workers: Workers) -> Iterator[None]:
    """Give work to these workers within, and end them afterwards."""
    with change_plan(workers=workers):
        try:
            yield
        finally:
            workers.close()
