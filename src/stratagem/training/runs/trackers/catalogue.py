"""Every tracker by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stratagem.base.errors import BadParameter
from stratagem.base.registry import Registry, parse_call
from stratagem.training.runs.trackers.base import Tracker
from stratagem.training.runs.trackers.trackio_tracker import Trackio
from stratagem.training.runs.trackers.wandb_tracker import WandB

TRACKERS: dict[str, Callable[..., Tracker]] = {"wandb": WandB, "trackio": Trackio}
"""Trackers by name; options follow in brackets: `wandb(project=kuhn)`."""

_registry: Registry[Tracker] = Registry("tracker", TRACKERS, "stratagem.trackers", Tracker)


def make_trackers(texts: Sequence[str]) -> list[Tracker]:
    """Make the trackers that texts name; one without its package is refused."""
    trackers = [_registry.make(parse_call(text)) for text in texts]
    if len({tracker.package for tracker in trackers}) < len(trackers):
        raise BadParameter(f"A run has each tracker once, unlike in {', '.join(texts)}.")
    for tracker in trackers:
        tracker.check()
    return trackers


def tracker_names() -> list[str]:
    """Return every name that `make_trackers` knows."""
    return _registry.names()
