"""Engine and workers of one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from stratagem.base.errors import WrongKind
from stratagem.base.options import whole


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
            from stratagem.playing.workers.kinds import workers_of
            from stratagem.playing.workers.plan import working

            stack.enter_context(working(workers_of(workers, ray)))
        yield
