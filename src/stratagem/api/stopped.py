"""Calls that were stopped, by a person, a budget or a server: what is known so far, and how the call goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stratagem.language.engines.remote.terms import ServerFailed

if TYPE_CHECKING:
    from stratagem.api.result import Result
    from stratagem.playing.records import Episode


class SoFar(NamedTuple):
    """Finished part of play that was stopped: `so_far` of the exception that stopped it."""

    episodes: Sequence[Episode]
    """Finished episodes."""
    folder: Path | None
    """Folder of the record, by which the play can go on; None without one."""
    compute: Callable[[Sequence[Episode]], Result]
    """Function from episodes to their figures."""

    def result(self) -> Result | None:
        """Return the figures of the finished episodes; None where there are none."""
        return self.compute(self.episodes) if self.episodes else None


def so_far_of(stop: BaseException) -> SoFar | None:
    """Return what is known of the play that an exception stopped; None where it stopped none."""
    found = vars(stop).get("so_far")
    return found if isinstance(found, SoFar) else None


@contextmanager
def going_on(sentence: str) -> Iterator[None]:
    """Add a sentence to an exception that stops a call: how the call goes on."""
    try:
        yield
    except (KeyboardInterrupt, ServerFailed) as stop:
        if sentence not in getattr(stop, "__notes__", ()):  # an inner call may have said it
            stop.add_note(sentence)
        raise
