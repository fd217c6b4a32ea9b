"""Pictures of plotly from figures: bars with error bars, lines and matrices. Texts are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stratagem.base.errors import MissingExtra
from stratagem.measure.figures.figure import UNITS_OF_GAMES
from stratagem.measure.statistics import Estimate
from stratagem.show.reports.figure import label
from stratagem.show.series import FigureSeries, name_of, value_of
from stratagem.show.table import Numbers, ResultTable

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def bars(drawn: FigureSeries) -> Figure:
    """Draw one bar for each value of each series, with its interval or standard error, and the level of its null."""
    figure = _graph_objects().Figure()
    for series in drawn.series:
        ends = [_ends(estimate) for estimate in series.values.values()]
        figure.add_bar(
            name=label(series.name),
            x=[label(item) for item in series.values],
            y=[estimate.mean for estimate in series.values.values()],
            error_y={"array": [up for up, _ in ends], "arrayminus": [down for _, down in ends]},
        )
    for series in drawn.series:
        if series.nulls:
            names, levels = [label(item) for item in series.nulls], list(series.nulls.values())
            figure.add_scatter(name=series.level, x=names, y=levels, mode="markers", marker_symbol="line-ew-open")
    unit = "" if drawn.figure.unit in UNITS_OF_GAMES else drawn.figure.unit  # those stand in the title
    across = ", ".join(filter(None, [drawn.figure.label, unit]))
    many = len(drawn.series) > 1
    return _add_title(figure, drawn.title, yaxis_title=label(across), barmode="group", showlegend=many)


def lines(title: str, across: str, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Draw one line for each curve."""
    figure = _graph_objects().Figure()
    for name, (places, values) in curves.items():
        figure.add_scatter(name=label(name), x=list(places), y=list(values), mode="lines+markers")
    return _add_title(figure, title, xaxis_title=label(across), showlegend=True)


def matrix(table: ResultTable) -> Figure:
    """Draw a matrix, its first row on top."""
    graph_objects = _graph_objects()
    places = [place for place, column in enumerate(table.columns) if isinstance(column, Numbers)]
    cells = [[value_of(row.values[place]) for place in places] for row in table.rows]
    shown = [label(name_of(table, row)) for row in table.rows]
    values = [[cell and cell.mean for cell in row] for row in cells]
    drawn = graph_objects.Heatmap(x=shown, y=shown, z=values, texttemplate="%{z:.2f}")
    return _add_title(graph_objects.Figure(drawn), table.title, yaxis_autorange="reversed")


def _graph_objects() -> Any:
    """Return the module of plotly, which no part of Stratagem needs but these pictures."""
    try:
        from plotly import graph_objects
    except ImportError:
        raise MissingExtra("`plot()`", "plots") from None
    return graph_objects


def _add_title(figure: Any, title: str, **layout: object) -> Figure:
    figure.update_layout(title=label(title), **layout)
    return figure


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Return the lengths of the error bar upwards and downwards; 0 where there is no limit."""
    if estimate.low is None and estimate.high is None:
        return (estimate.se or 0.0,) * 2
    up, down = (0.0 if end is None else abs(end - estimate.mean) for end in (estimate.high, estimate.low))
    return up, down
