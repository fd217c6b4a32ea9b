"""Number of threads of a process, on which the last bits of a forward pass may depend."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")

_SPINNING = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
_ROUNDS = "1000"


def spin_briefly() -> None:
    """Let threads that wait for each other sleep soon, unless the user has said how they wait.

    By default they spin 300,000 times. Beside other busy programs a thread then spins in the time of the one that it
    waits for: benchmarks/busy_machine.py has the cost. Torch reads the variable at its import.
    """
    if not any(name in os.environ for name in _SPINNING):
        os.environ[_SPINNING[0]] = _ROUNDS


def available_threads() -> int:
    """Return the number of threads that this process may use: OMP_NUM_THREADS, or the number of its cores."""
    stated = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(stated) if stated.isdecimal() and int(stated) else count_cores()


def count_cores() -> int:
    """Return the number of cores; only Linux limits a process to some of them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_threads(number: int) -> None:
    """Compute with this number of threads from now on; torch reads the variables when it is imported."""
    spin_briefly()
    os.environ.update(dict.fromkeys(_VARIABLES, str(number)))
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(number)  # of MKL, too, which may have another number until then


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Compute with this number of threads within."""
    before, counted = {name: os.environ.get(name) for name in _VARIABLES}, available_threads()
    use_threads(number)
    try:
        yield
    finally:
        use_threads(counted)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
