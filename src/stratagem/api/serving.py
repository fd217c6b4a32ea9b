"""Engine and workers of one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from stratagem.base.errors import WrongKind
from stratagem.base.options import whole

if TYPE_CHECKING:
    from stratagem.playing.workers.base import Workers


@contextmanager
def serving(engine: str | None = None, workers: int | None = None, ray: str | None = None) -> Iterator[None]:
    """Serve local models by an engine, and share the work between workers, within."""
    with ExitStack() as stack:
        if engine is not None:
            if not isinstance(engine, str):
                raise WrongKind("engine", "a text such as `transformers(rows=16)`", engine)
            from stratagem.language.engines.open import served_by
            from stratagem.training.recipe_file import read_engine

            stack.enter_context(served_by(read_engine(engine).value))
        if workers is not None:
            whole("The call", "workers", workers, 1)
        if workers is not None or ray is not None:
            from stratagem.playing.workers.plan import working

            stack.enter_context(working(workers_of(workers, ray)))
        yield


def workers_of(number: int | None, address: str | None = None) -> Workers:
    """Return so many processes of this machine, or so many workers of the Ray cluster at an address."""
    # imported when they are called, as `import stratagem` needs no workers
    if address is not None:
        from stratagem.playing.workers.ray_cluster import RayWorkers

        return RayWorkers(address, number)
    from stratagem.playing.workers.processes import Processes
    from stratagem.playing.workers.threads import available_threads

    number = number or 1
    return Processes(number, max(1, available_threads() // number))
