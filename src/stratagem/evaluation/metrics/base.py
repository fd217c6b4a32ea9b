"""What a metric is: declared data and one method from bouts to an estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from stratagem.evaluation.bouts import Bout
from stratagem.evaluation.statistics import Estimate
from stratagem.games.base import Game


@dataclass(frozen=True)
class Sample:
    """All bouts of one hero in one game."""

    game: Game[Any]
    bouts: tuple[Bout, ...]

    def pool(self, *names: str) -> list[Bout]:
        """The bouts against opponents of these pools; an opponent of several counts once."""
        return [bout for bout in self.bouts if any(name in bout.pools for name in names)]


class Metric(ABC):
    """One figure; the class docstring is its definition, with its source."""

    name: ClassVar[str]
    better: ClassVar[Literal["higher", "lower", "neither"]]
    digits: ClassVar[int] = 3
    unit: ClassVar[str] = ""
    """What it is counted in; empty for a pure number."""
    null_case: ClassVar[str] = ""
    """The figure that `null` gives, in words; empty where there is none."""
    by_seat: ClassVar[bool] = False
    """Whether the table by seat prints it."""

    @abstractmethod
    def measure(self, sample: Sample) -> Estimate | None:
        """The figure, or None where it has no meaning for this game or these opponents."""

    def null(self, sample: Sample) -> float | None:
        """The figure under the null hypothesis, from the same games; None where the metric has no such level."""
        return None


def known(estimates: Sequence[Estimate | None]) -> list[Estimate]:
    """Those that have a meaning."""
    return [estimate for estimate in estimates if estimate is not None]
