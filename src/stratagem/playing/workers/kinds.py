"""Kinds of workers by the options of the command line."""

from __future__ import annotations

from stratagem.playing.workers.base import Workers
from stratagem.playing.workers.processes import Processes
from stratagem.playing.workers.threads import available_threads


def workers_of(number: int | None, address: str | None = None) -> Workers:
    """Return so many processes of this machine, or so many workers of the Ray cluster at an address."""
    if address is not None:
        from stratagem.playing.workers.ray_cluster import RayWorkers

        return RayWorkers(address, number)
    number = number or 1
    return Processes(number, max(1, available_threads() // number))
