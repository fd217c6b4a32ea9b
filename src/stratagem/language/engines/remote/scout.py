"""First request to a place that has not answered yet, for which the others wait.

A closed port or an unknown model would otherwise be asked by as many requests as may be under way at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

_CONNECTED = 1.0
"""Seconds of one try after which somebody is there: a refused connection or an unknown model takes milliseconds."""


class Scout:
    """State of the first request; the others wait until it is released."""

    def __init__(self) -> None:
        self.failed = False
        """True if it failed as any request might: nothing more is sent until that is judged."""
        self._known = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def wait(self) -> None:
        """Wait until the place is known to be there, or known not to be."""
        await self._known.wait()

    def release(self) -> None:
        """Let the others go on; any thread may call it."""
        self._loop.call_soon_threadsafe(self._known.set)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Release the others if the try within takes long: somebody is there, and is slow."""
        timer = self._loop.call_later(_CONNECTED, self._known.set)
        try:
            yield
        finally:
            timer.cancel()
