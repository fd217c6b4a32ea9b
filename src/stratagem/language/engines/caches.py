"""Caches of engines, which are reset before each unit of work, so that its result is bit-identical.

The rounding of a forward pass depends on its shape, and cached texts make a pass smaller. So the last digits of a
log-probability depend on what the engine cached in earlier batches; a resumed process has cached nothing. Every unit of
work (the games of an iteration, a validation, a final evaluation) therefore begins with `reset_caches`: its result is
the same in any order and in any process. Within a unit, computation is shared.
"""

from __future__ import annotations

from weakref import WeakSet

from stratagem.language.engines.base import TrainableEngine

_engines: WeakSet[TrainableEngine] = WeakSet()


def register(engine: TrainableEngine) -> None:
    """Let `reset_caches` reach an engine for as long as it lives."""
    _engines.add(engine)


def reset_caches() -> None:
    """Begin a unit of work: every engine that was opened in this process forgets its cache."""
    for engine in list(_engines):
        engine.reset_cache()
