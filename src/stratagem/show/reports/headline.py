"""Headline of a run: for each game its main figures, stage by stage, as data and as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.games.bounded import make_bounded_game
from stratagem.measure.evaluate import CHANCE
from stratagem.measure.figures.catalogue import find_figure
from stratagem.measure.figures.figure import Figure
from stratagem.measure.statistics import Estimate, exactly
from stratagem.show.evaluation_file import GameTable, PlayerFigures
from stratagem.show.html import Html, join
from stratagem.show.markup import table_html, with_intervals
from stratagem.show.reports.run_data import RunData, finite
from stratagem.show.reports.sections.results import chosen_of, in_order
from stratagem.show.reports.stages import stage_title
from stratagem.show.table import Numbers, ResultTable, Value, text_table

EXACT, POOL, OBJECTIVE, WINS = "exploitability", "pool_advantage", "safety", "win rate"
_CONTEST = ("payoff", "centres")
"""Metrics of a game without safety signals that nobody simply wins or loses."""
_CURVES = {POOL: "validation/pool_advantage", OBJECTIVE: "validation/safety", WINS: "validation/win_rate"}
_CURVES |= {name: f"validation/{name}" for name in _CONTEST}
_EXACT_CURVE = "/exact/exploitability"


class Measure(NamedTuple):
    """One figure of every stage."""

    name: str
    """Key in the catalogue of figures."""
    figures: tuple[Estimate | None, ...]
    unit: str = ""

    @property
    def figure(self) -> Figure:
        """Declaration of the figure."""
        return find_figure(self.name)

    def to_json(self, stages: Sequence[str]) -> dict[str, Any]:
        """Return the figures by stage."""
        values = [figure and figure.to_json() for figure in self.figures]
        return {"unit": self.unit, "better": self.figure.better, "figures": dict(zip(stages, values, strict=True))}


class Headline(NamedTuple):
    """Stages of a run in one game, and their figures."""

    game: str
    stages: tuple[str, ...]
    chosen: int
    """Index of the chosen stage."""
    measures: tuple[Measure, ...]
    rows: tuple[PlayerFigures, ...] = ()
    """The stages' rows of the evaluation; empty before there is one."""

    def by_policy(self) -> Iterator[Headline]:
        """Yield the stages of each policy by themselves, where a run has several; the name is before the title."""
        chosen = self.stages[self.chosen].rpartition(": ")[2]
        for name in dict.fromkeys(stage.rpartition(": ")[0] for stage in self.stages):
            own = [number for number, stage in enumerate(self.stages) if stage.rpartition(": ")[0] == name]
            titles = [self.stages[number].rpartition(": ")[2] for number in own]
            yield Headline(
                self.game,
                tuple(self.stages[number] for number in own),
                titles.index(chosen) if chosen in titles else len(own) - 1,
                tuple(one._replace(figures=tuple(one.figures[number] for number in own)) for one in self.measures),
                tuple(self.rows[number] for number in own) if self.rows else (),
            )

    def to_json(self) -> dict[str, Any]:
        """As data."""
        values = {measure.name: measure.to_json(self.stages) for measure in self.measures}
        return {
            "game": self.game,
            "stages": list(self.stages),
            "chosen": self.stages[self.chosen],
            "evaluated": bool(self.rows),
            "measures": values,
        }


def headlines(data: RunData) -> list[Headline]:
    """Make a headline for each game: of the final evaluation, or before there is one of validation."""
    return list(_evaluation_figures(data)) or list(_validation_figures(data))


def _evaluation_figures(data: RunData) -> Iterator[Headline]:
    if data.evaluation is None:
        return
    names = data.evaluation.rows
    for game in data.evaluation.evaluation.games:
        stages = [(name, row) for name, row in in_order(game, names) if row.player in names and row.player != CHANCE]
        if stages:
            values, rows = tuple(name for name, _ in stages), tuple(row for _, row in stages)
            yield Headline(game.game, values, values.index(chosen_of(values)), tuple(_measures(game, rows)), rows)


def _measures(game: GameTable, rows: Sequence[PlayerFigures]) -> Iterator[Measure]:
    """Choose the figures: exploitability; the objective; else the win rate where games are won, or the payoff."""
    exact = [row.exploitability.exact for row in rows]
    if None not in exact:
        yield Measure(EXACT, tuple(exactly(value) for value in exact if value is not None), game.unit)
    elif any(row.metrics.get(POOL) for row in rows):
        yield Measure(POOL, tuple(row.metrics.get(POOL) for row in rows))
    for name in _measure_names(game.game, lambda name: any(row.metrics.get(name) for row in rows)):
        yield Measure(name, tuple(row.metrics.get(name) for row in rows))


def _measure_names(game: str, is_measured: Any) -> list[str]:
    """Return the names of the figures beside exploitability."""
    if is_measured(OBJECTIVE):
        return [OBJECTIVE]
    if is_measured(WINS) and is_won(game):
        return [WINS]
    return [name for name in _CONTEST if is_measured(name)]


def is_won(game: str) -> bool:
    """Return whether an episode of a game can only be won, lost or tied by two, so that a win rate is sufficient."""
    try:
        spec = make_bounded_game(game).spec
    except StratagemError:
        return False
    two = spec.seats == 2 and spec.utility in ("zero-sum", "constant-sum")
    return two and spec.rounds == 1 and spec.bounds == (-1.0, 1.0)


def _validation_figures(data: RunData) -> Iterator[Headline]:
    """Read the figures of validation: at the start, at the chosen step and at the last."""
    for game in dict.fromkeys(games_of(data.curves)):
        curves = {name: points for name, (_, points) in curves_of(data, game).items()}
        steps = _steps(data, list(curves.values()))
        if steps:
            yield _of_curves(data, game, steps, curves)


def curves_of(data: RunData, game: str) -> dict[str, tuple[str, dict[int, float]]]:
    """Return by name the curves of validation that a headline has: the metric, and its finite values by step."""
    metrics = {EXACT: _EXACT_CURVE, **{name: f"/{metric}" for name, metric in _CURVES.items()}}
    own = {name: (f"{game}{metric}", finite(data.curves.get(f"{game}{metric}"))) for name, metric in metrics.items()}
    first = next((name for name in (EXACT, POOL) if own[name][1]), None)
    names = _measure_names(game, lambda name: bool(own[name][1]))
    return {name: own[name] for name in [*([first] if first else []), *names]}


def games_of(curves: Mapping[str, Any]) -> Iterator[str]:
    """Yield the games with curves of validation or of exact figures."""
    for name in curves:
        for part in (_EXACT_CURVE, "/validation/"):
            if part in name:
                yield name.partition(part)[0]


def _steps(data: RunData, curves: Sequence[Mapping[int, float]]) -> list[int]:
    """Return the first, the chosen and the last step at which all figures were measured."""
    common = sorted(set.intersection(*(set(curve) for curve in curves))) if curves else []
    chosen = [step for step in common if step == data.chosen_step]
    return sorted({common[0], *chosen, common[-1]}) if common else []


def _of_curves(data: RunData, game: str, steps: Sequence[int], curves: Mapping[str, Mapping[int, float]]) -> Headline:
    stages = tuple(stage_title(data, step, last=step == steps[-1] != data.chosen_step) for step in steps)
    counts = steps.index(data.chosen_step) if data.chosen_step in steps else len(steps) - 1
    measures = [
        Measure(
            name,
            tuple(Estimate(mean=curve[step], exact=name == EXACT) for step in steps),
        )
        for name, curve in curves.items()
    ]
    return Headline(game, stages, counts, tuple(measures))


def headline_table(headlines: list[Headline]) -> Html:
    """Make a table for each game; nothing for a single stage, which the verdict describes."""
    return join(*(table_html(with_intervals(table)) for table in headline_tables(headlines)))


def headline_tables(headlines: Iterable[Headline]) -> list[ResultTable]:
    """Return a table for each game with several stages."""
    return [_table(headline) for headline in headlines if len(headline.stages) > 1 and headline.measures]


def _table(headline: Headline) -> ResultTable:
    # the title of a stage is behind the name of its policy, where a run has several
    chosen = headline.stages[headline.chosen].rpartition(": ")[2]
    heads = [f"{name}, chosen" if name.rpartition(": ")[2] == chosen else name for name in headline.stages]
    source = "final evaluation" if headline.rows else "validation"
    rows = [(measure.figure, measure.unit, *_cells(headline, measure)) for measure in headline.measures]
    return text_table(f"{headline.game}, {source}", ("", "unit", *map(Numbers, heads)), rows)


def _cells(headline: Headline, measure: Measure) -> Sequence[Value]:
    """Return figures with their uncertainty; those of validation have none."""
    if headline.rows or measure.name == EXACT:
        return measure.figures
    return [figure and figure.mean for figure in measure.figures]
