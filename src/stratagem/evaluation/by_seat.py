"""The hero's figures seat by seat, where it matters who sits where, such as the powers of Diplomacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stratagem.evaluation.bouts import Bout
from stratagem.evaluation.metrics import METRICS, Sample
from stratagem.evaluation.statistics import Estimate, students
from stratagem.games.base import Game, Json, Seat


@dataclass(frozen=True)
class SeatFigures:
    """The figures of the episodes in which the hero had one seat."""

    opponent: str
    seat: str
    """The seat's name, or its number from 1."""
    episodes: int
    metrics: dict[str, Estimate | None]
    """Each with a 95 % interval; one deal has one episode a seat."""

    def to_json(self) -> Json:
        """Every field by name."""
        metrics = {name: found and found.to_json() for name, found in self.metrics.items()}
        return {"opponent": self.opponent, "seat": self.seat, "episodes": self.episodes, "metrics": metrics}


def by_seat(game: Game[Any], bouts: Sequence[Bout], metrics: Sequence[str]) -> tuple[SeatFigures, ...]:
    """A row an opponent and seat, from the episodes as played, with those of the metrics that are told by seat."""
    told = [name for name in metrics if METRICS[name].by_seat]
    names = game.spec.seat_names or tuple(str(seat + 1) for seat in range(game.spec.seats))
    return tuple(_figures(game, _at(bout, seat), name, told) for bout in bouts for seat, name in enumerate(names))


def _at(bout: Bout, seat: Seat) -> Bout:
    """The episodes in which the hero had that seat."""
    return replace(bout, episodes=tuple(e for e in bout.episodes if e.seat_of(0) == seat), expectations=())


def _figures(game: Game[Any], bout: Bout, name: str, metrics: Sequence[str]) -> SeatFigures:
    sample = Sample(game, (bout,) if bout.episodes else ())
    found = {metric: METRICS[metric].measure(sample) for metric in metrics}
    told = {metric: estimate and _with_interval(estimate) for metric, estimate in found.items()}
    return SeatFigures(bout.opponent, name, len(bout.episodes), told)


def _with_interval(estimate: Estimate) -> Estimate:
    return estimate if estimate.low is not None else students(estimate)
