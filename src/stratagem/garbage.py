"""Garbage collection of Python, less often: a model and its libraries are a million objects that never become garbage.

A full collection looks at all of them again, which took a fifth of an iteration with small models. Within
`rare_collection` they are exempt, and young objects are looked at less often.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (20_000, 20, 50)
"""Numbers of new objects, of young collections and of middle collections between collections."""


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect garbage less often within, as while libraries are imported; no object is exempt."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def skip_last_collection() -> None:
    """Exempt all objects from the collections at the end of the process, which free nothing that its end does not."""
    gc.freeze()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Collect garbage rarely within; existing objects are exempt. Within another such block it changes nothing."""
    if gc.get_freeze_count():
        yield
        return
    gc.collect()
    gc.freeze()
    try:
        with fewer_collections():
            yield
    finally:
        gc.unfreeze()
