"""Main figures of a run, such as exploitability or a win rate: at the start, at the best checkpoint, and last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stratagem.measure.figures.catalogue import find_figure
from stratagem.show.reports.headline import curves_of, games_of
from stratagem.show.reports.metric_reading import chance_of, unit_of
from stratagem.show.reports.run_data import SFT_PREFIXES, RunData, finite

Point = tuple[int, float]
"""Step and value."""
_SCORE, _PAY = "checkpoint_metric", "/payoff"


class MainFigure(NamedTuple):
    """Figure over the steps of a run."""

    name: str
    game: str
    """Game or learner; empty where the figure belongs to the whole run."""
    metric: str
    """Name in the file of metrics."""
    unit: str
    better: str
    points: Mapping[int, float]
    """Finite values by step, of which there is at least one."""
    best_step: int | None
    """Step of the best checkpoint."""
    chance: float | None

    @property
    def start(self) -> Point:
        """The first value."""
        return next(iter(self.points.items()))

    @property
    def last(self) -> Point:
        """The newest value."""
        return list(self.points.items())[-1]

    @property
    def best(self) -> Point | None:
        """The value at the best checkpoint; None where there is none yet."""
        step = self.best_step
        return None if step is None or step not in self.points else (step, self.points[step])


def main_figures(data: RunData) -> list[MainFigure]:
    """Return the main figures of each game; else the checkpoint metric, or the rewards of learners."""
    return list(_of_games(data)) or list(_others(data))


def _of_games(data: RunData) -> Iterator[MainFigure]:
    for game in dict.fromkeys(games_of(data.curves)):
        for name, (metric, points) in curves_of(data, game).items():
            figure = find_figure(name)
            yield _figure(data, figure.label, game, metric, points, figure.better)


def _others(data: RunData) -> Iterator[MainFigure]:
    names = [_SCORE] if _SCORE in data.curves else [name for name in data.curves if name.endswith(_PAY)]
    for name in names:
        points = finite(data.curves[name])
        if points and not name.startswith(SFT_PREFIXES):
            title = "checkpoint metric" if name == _SCORE else "payoff"
            yield _figure(data, title, name.removesuffix(_PAY) if name != _SCORE else "", name, points)


def _figure(
    data: RunData, name: str, game: str, metric: str, points: Mapping[int, float], better: str = "higher"
) -> MainFigure:
    return MainFigure(
        name, game, metric, unit_of(data, metric), better, points, data.chosen_step, chance_of(data, metric)
    )
