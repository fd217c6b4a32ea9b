"""Figures of the agent seat by seat, where seats differ, such as the powers of Diplomacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stratagem.games.base import Game, Json, Seat
from stratagem.measure.matchups import Matchup
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.statistics import Estimate, students


@dataclass(frozen=True)
class SeatFigures:
    """Figures of the episodes in which the agent had one seat."""

    opponent: str
    seat: str
    """Name of the seat, or its number from 1."""
    episodes: int
    metrics: dict[str, Estimate | None]
    """Each metric with a 95 % interval; one deal has one episode a seat."""

    def to_json(self) -> Json:
        """Return every field by name."""
        metrics = {name: estimate and estimate.to_json() for name, estimate in self.metrics.items()}
        return {"opponent": self.opponent, "seat": self.seat, "episodes": self.episodes, "metrics": metrics}


def by_seat(game: Game[Any], matchups: Sequence[Matchup], metrics: Sequence[str]) -> tuple[SeatFigures, ...]:
    """Return a row for each opponent and seat, with the metrics that are printed by seat."""
    printed = [name for name in metrics if METRICS[name].by_seat]
    names = game.spec.seat_names or tuple(str(seat + 1) for seat in range(game.spec.seats))
    return tuple(
        _figures(game, _at(matchup, seat), name, printed) for matchup in matchups for seat, name in enumerate(names)
    )


def measure_seats(
    game: Game[Any], matchups: Sequence[Matchup], metrics: Sequence[str], seats: Sequence[Seat]
) -> dict[str, Estimate | None]:
    """Return the metrics that are printed by seat, over all episodes in which the agent had one of some seats."""
    own = [_at(matchup, seat) for matchup in matchups for seat in seats]
    sample = Sample(game, tuple(matchup for matchup in own if matchup.episodes))
    return {name: METRICS.measure(name, sample) for name in metrics if METRICS[name].by_seat}


def _at(matchup: Matchup, seat: Seat) -> Matchup:
    """Return the episodes in which the agent had that seat."""
    return replace(matchup, episodes=tuple(e for e in matchup.episodes if e.seat_of(0) == seat), expectations=())


def _figures(game: Game[Any], matchup: Matchup, name: str, metrics: Sequence[str]) -> SeatFigures:
    sample = Sample(game, (matchup,) if matchup.episodes else ())
    measured = {metric: METRICS.measure(metric, sample) for metric in metrics}
    printed = {metric: estimate and _with_interval(estimate) for metric, estimate in measured.items()}
    return SeatFigures(matchup.opponent, name, len(matchup.episodes), printed)


def _with_interval(estimate: Estimate) -> Estimate:
    return estimate if estimate.low is not None else students(estimate)
