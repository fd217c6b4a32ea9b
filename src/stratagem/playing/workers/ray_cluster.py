"""Actors of a Ray cluster as workers: each has its own copies of engines, and Ray begins a lost one anew."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter, MissingExtra, StratagemError
from stratagem.base.file_modules import HandedFiles, broken_files, handed_files, load_again
from stratagem.playing.workers.base import Item, Parcel, Result, Workers
from stratagem.playing.workers.threads import available_threads, use_threads

_RETRIES = 100
"""Number of times that a unit of work is repeated whose actor or node is lost.

Ray tries about once a second to reach a node that is lost, and needs half a minute to notice.
"""
_SECONDS = 10.0
"""Seconds to wait for an answer from the address of a cluster."""


@dataclass
class RayParcel:
    """Files in the object store; a node fetches them once."""

    files: tuple[Any, ...]
    """Reference to the contents by relative path, in a tuple so that Ray does not resolve it before it is needed."""

    @contextmanager
    def unpack_files(self) -> Iterator[Path]:
        """Provide a temporary folder with the files."""
        import ray

        with tempfile.TemporaryDirectory() as folder:
            contents: dict[str, bytes] = ray.get(self.files[0])
            for name, content in contents.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            yield Path(folder)

    def drop(self) -> None:
        """Forget the reference; Ray removes what nobody refers to."""
        self.files = ()


class RayWorkers(Workers):
    """Actors of a Ray cluster; each takes one GPU where the cluster has any, otherwise cores for its threads."""

    def __init__(self, address: str, num_workers: int | None = None) -> None:
        """Without `num_workers` the cluster is filled. The cluster is looked for at the first use."""
        if find_spec("ray") is None:
            raise MissingExtra("A Ray cluster", "ray")
        self._address = address
        self._asked = num_workers

    @cached_property
    def _resources(self) -> dict[str, float]:
        """Resources of the cluster; the first look connects to it."""
        return _connect(self._address)

    @cached_property
    def _actors(self) -> list[Any]:
        found = self._resources
        gpus, cores = int(found.get("GPU", 0)), int(found.get("CPU", 0))
        threads = available_threads() if gpus else 1
        most = gpus or cores // threads
        number = self._asked or most
        if not 1 <= number <= most:
            self.close()
            raise BadParameter(
                f"The Ray cluster has {cores} cores and {gpus} GPUs, which is room for {most} workers of {threads} "
                f"threads, and {number} are asked for: take fewer `workers=`."
            )
        import ray

        actor = ray.remote(_Worker).options(
            num_cpus=threads, num_gpus=int(gpus > 0), max_restarts=-1, max_task_retries=_RETRIES
        )
        return [actor.remote(threads, handed_files()) for _ in range(number)]

    @property
    def num_workers(self) -> int:
        return len(self._actors)

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[tuple[int, Result]]:
        from ray.util import ActorPool

        pool = ActorPool(self._actors)
        yield from pool.map_unordered(lambda actor, pair: actor.do.remote(work, *pair), list(enumerate(items)))

    def run_on_each(self, work: Callable[[Item], Result], item: Item) -> list[Result]:
        actors = self._actors  # before Ray is asked, since this connects to it
        import ray

        pairs: list[tuple[int, Result]] = ray.get([actor.do.remote(work, 0, item) for actor in actors])
        return [result for _, result in pairs]

    def put(self, folder: Path) -> Parcel:
        self.reach()  # without a connection Ray begins a cluster of its own
        import ray

        paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
        contents = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
        return RayParcel((ray.put(contents),))

    def close(self) -> None:
        if "ray" in sys.modules:
            sys.modules["ray"].shutdown()


def _connect(address: str) -> dict[str, float]:
    """Connect to a cluster, or start one on this machine at the address `local`, and return its resources.

    Ray gives a cluster that it starts here a token, unless `RAY_AUTH_MODE` says otherwise. It makes none where
    `RAY_AUTH_MODE` is set after Ray was imported, so it is not set here.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    try:
        _check_port(address)
        ray.init(
            address,
            log_to_driver=False,
            logging_level="ERROR",
            include_dashboard=False,
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise StratagemError(f"There is no Ray cluster at {address}: {_first_line(error)}") from error
    resources: dict[str, float] = ray.cluster_resources()
    return resources


def _check_port(address: str) -> None:
    """Raise an error where nothing listens at HOST:PORT, since Ray itself tries for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_SECONDS).close()


class _Worker:
    """Actor that does units of work."""

    def __init__(self, num_threads: int, given: HandedFiles) -> None:
        use_threads(num_threads)
        load_again(given)

    def do(self, work: Callable[[Item], Result], index: int, item: Item) -> tuple[int, Result]:
        """Do the work on an item."""
        with broken_files():
            return index, work(item)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
