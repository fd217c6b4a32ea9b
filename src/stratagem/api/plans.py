"""Plans: play that is checked and not begun, so that a caller may stop it and still have figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar

from stratagem.api.play_settings import PlaySettings
from stratagem.api.progress import Step, counted
from stratagem.api.serving import serving
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.resumable import ResumableRecord
from stratagem.play.records import Episode

S = TypeVar("S", bound=PlaySettings)
R = TypeVar("R", covariant=True)
P = TypeVar("P", covariant=True)


@dataclass(frozen=True)
class Plan(ABC, Generic[S, R, P]):
    """Play that is checked and not begun: by settings S, with the result R, or with P where it is stopped."""

    settings: S
    evaluator: Evaluator
    record: ResumableRecord

    @property
    @abstractmethod
    def total(self) -> int:
        """Number of items by which progress is counted."""

    @abstractmethod
    def run(self, step: Step) -> R:
        """Play, and return the figures."""

    @abstractmethod
    def so_far(self, episodes: Iterable[Episode]) -> P:
        """Return the figures of those episodes that are finished."""


def carry_out(make: Callable[[S], Plan[S, R, object]], settings: S) -> R:
    """Make a plan and play it, by the engine and the workers of its settings."""
    with serving(settings.engine, settings.workers, settings.ray):
        plan = make(settings)
        with closing(plan.record), counted(plan.total, shown=settings.progress) as step:
            return plan.run(step)
