"""Plans: play that is checked and not begun; where it is stopped, the exception has what is known so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar

from stratagem.api.progress import Step, show_progress
from stratagem.api.result import Result
from stratagem.api.stopped import SoFar
from stratagem.language.engines.remote.budget import BudgetSpent
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.measure.matchups import Evaluator
from stratagem.measure.resumable import ResumableRecord
from stratagem.playing.records import Episode

R = TypeVar("R", covariant=True)


@dataclass(frozen=True)
class PlayPlan(ABC, Generic[R]):
    """Play that is checked and not begun, with the result R."""

    evaluator: Evaluator
    record: ResumableRecord
    seed: int

    @property
    @abstractmethod
    def total(self) -> int:
        """Number of items by which progress is counted."""

    @abstractmethod
    def run(self, step: Step) -> R:
        """Play, and return the figures."""

    @abstractmethod
    def figures_so_far(self, episodes: Sequence[Episode]) -> Result:
        """Return the figures of those episodes that are finished."""

    def play(self, *, shown: bool) -> R:
        """Play, with progress shown or not; an exception that stops it tells what is known so far."""
        try:
            with closing(self.record), show_progress(self.total, shown=shown) as step:
                return self.run(step)
        except (KeyboardInterrupt, BudgetSpent, ServerFailed) as stop:
            vars(stop)["so_far"] = SoFar(self.record.clean, self.record.folder, self.figures_so_far)
            raise
