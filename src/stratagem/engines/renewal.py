"""Units of work that depend on nothing computed before them, to the bit.

The rounding of a forward pass depends on its shape, and cached texts make a pass smaller. So the last digits of a
log-probability depend on what the engine cached in earlier batches; a resumed process has cached nothing. Every unit of
work (the games of an iteration, a validation, a final evaluation) therefore begins with `renew`: its result is the same
in any order and in any process. Within a unit, computation is shared as before.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """Engine with a cache of earlier batches."""

    def renew(self) -> None:
        """Forget the cache of earlier batches, so that later results equal those of a new engine."""
        ...


_engines: WeakSet[Renewable] = WeakSet()


def register(engine: Renewable) -> None:
    """Let `renew` reach an engine for as long as it lives."""
    _engines.add(engine)


def renew() -> None:
    """Begin a unit of work: every engine of this process forgets its cache."""
    for engine in list(_engines):
        engine.renew()
