"""Units of work that depend on nothing computed before them, to the bit.

A forward pass rounds by its shape, and texts that are known already make a pass smaller: so the last digits of a
log-probability depend on what the engine kept from earlier batches. A process that takes a run up again has kept
nothing. Every unit of work (the games of an iteration, a validation, a last table) therefore begins with `renew`: it
comes out the same in any order, in any process. Within a unit what was computed is shared as before.
"""

from __future__ import annotations

from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """An engine with a memory of earlier batches."""

    def renew(self) -> None:
        """Forget what earlier batches left, so that what follows is computed as by a new engine."""
        ...


_engines: WeakSet[Renewable] = WeakSet()


def register(engine: Renewable) -> None:
    """Let `renew` reach an engine for as long as it lives."""
    _engines.add(engine)


def renew() -> None:
    """Begin a unit of work: every engine of this process forgets what it kept."""
    for engine in list(_engines):
        engine.renew()
