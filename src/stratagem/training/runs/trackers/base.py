"""Interface of trackers, and the trackers of the runs that begin now."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from stratagem.base.errors import StratagemError


class TrackedRun(NamedTuple):
    """Run as a tracker knows it."""

    id: str
    """Id of the run at all trackers, which it keeps when it is resumed."""
    name: str
    folder: Path
    config: Mapping[str, Any]
    """Settings of the run, as its `config.toml` has them."""


class Track(ABC):
    """Open connection to a tracker, for one run."""

    url: str = ""
    """Address of the run's page; empty where there is none."""

    @abstractmethod
    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Send the metrics of a step."""

    @abstractmethod
    def close(self, *, failed: bool) -> None:
        """Send what is left, and end the session."""


class Tracker(ABC):
    """Service that keeps metrics, with its options; subclasses are frozen dataclasses."""

    package: ClassVar[str]
    """Package of the service, which is also the name of the tracker."""

    def check(self) -> None:
        """Refuse a tracker whose package is not installed."""
        if find_spec(self.package) is None:
            raise StratagemError(
                f"The tracker {self.package} needs a package that is not installed: pip install {self.package}."
            )

    @abstractmethod
    def open(self, run: TrackedRun) -> Track:
        """Open or continue a run at the service."""


SECRETS = ("WANDB_API_KEY", "TRACKIO_WRITE_TOKEN", "TRACKIO_SERVER_URL", "TRACKIO_WEBHOOK_URL", "HF_TOKEN")
"""Environment variables whose values no message shows."""
_SHORT = 6
"""Length below which a text is no secret."""
_LONGEST = 500


def sentence(error: Exception) -> str:
    """Return the message of a service's error on one line, without secrets and without its end."""
    text = str(error)
    for value in (os.environ.get(name, "") for name in SECRETS):
        text = text.replace(value, "…") if len(value) >= _SHORT else text
    return (" ".join(text.split()) or type(error).__name__)[:_LONGEST].rstrip(". ")


_trackers: list[tuple[Tracker, ...]] = [()]


def current() -> tuple[Tracker, ...]:
    """Return the trackers of a run that begins now."""
    return _trackers[-1]


@contextmanager
def tracking(trackers: Sequence[Tracker]) -> Iterator[None]:
    """Send the metrics of runs to these trackers within."""
    _trackers.append(tuple(trackers))
    try:
        yield
    finally:
        _trackers.pop()
