"""Shelf of the episodes that agents have finished, which writes them to a record now and then."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Lock

from stratagem.base.errors import StratagemError
from stratagem.base.lock import LockHeld
from stratagem.playing.records import Episode

SECONDS = 5.0
"""Seconds after which finished episodes are written at the next one."""
MOST_WAITING = 10_000
"""Number of episodes that may wait for a record which another server holds, before no further table opens."""
_TRIES, _PAUSE = 20, 0.25
"""Number of tries at the end, where another server writes to the same record, and the seconds between them."""


class EpisodeShelf:
    """Finished episodes; without a folder they are dropped."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._fresh: list[Episode] = []
        self._since = time.monotonic()
        self._lock = Lock()
        if folder is not None:
            from stratagem.playing.store import prepare  # loads pyarrow, so only with a folder

            prepare(folder)

    def keep(self, episode: Episode) -> None:
        """Take a finished episode."""
        with self._lock:
            if self._folder is None:
                return
            self._fresh.append(episode)
            if time.monotonic() - self._since > SECONDS:
                self._write()

    def check_room(self) -> None:
        """Refuse a further episode while too many wait for a record that another server holds."""
        with self._lock:
            if len(self._fresh) >= MOST_WAITING and not self._write():
                raise StratagemError(
                    f"No table opens: {len(self._fresh):,} episodes wait to be recorded, and another program writes to "
                    "the record."
                )

    def close(self) -> None:
        """Write what is left."""
        with self._lock:
            for _ in range(_TRIES):
                if not self._fresh or self._write():
                    return
                time.sleep(_PAUSE)
            if self._fresh:
                raise StratagemError(
                    f"{len(self._fresh)} episodes were not recorded: another program writes to {self._folder}."
                )

    def _write(self) -> bool:
        """Write the episodes; False where another server, of the same agent perhaps, writes there now."""
        from stratagem.playing.store import record

        assert self._folder is not None
        self._since = time.monotonic()
        try:
            for _ in record(self._fresh, self._folder):
                pass
        except LockHeld:
            return False
        self._fresh = []
        return True
