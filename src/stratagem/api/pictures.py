"""Pictures of plotly from figures: bars with error bars, lines and matrices. Texts are escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stratagem.evaluation.statistics import Estimate
from stratagem.reports.figure import label

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def bars(title: str, unit: str, series: Mapping[str, Mapping[str, Estimate]]) -> Figure:
    """Draw one bar for each figure of each series, with its interval or standard error."""
    from plotly import graph_objects

    figure = graph_objects.Figure()
    for name, estimates in series.items():
        ends = [_ends(estimate) for estimate in estimates.values()]
        figure.add_bar(
            name=label(name),
            x=[label(item) for item in estimates],
            y=[estimate.mean for estimate in estimates.values()],
            error_y={"array": [up for up, _ in ends], "arrayminus": [down for _, down in ends]},
        )
    return _titled(figure, title, yaxis_title=label(unit), barmode="group", showlegend=len(series) > 1)


def lines(title: str, across: str, curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Figure:
    """Draw one line for each curve."""
    from plotly import graph_objects

    figure = graph_objects.Figure()
    for name, (places, values) in curves.items():
        figure.add_scatter(name=label(name), x=list(places), y=list(values), mode="lines+markers")
    return _titled(figure, title, xaxis_title=label(across), showlegend=True)


def matrix(title: str, names: Sequence[str], values: Sequence[Sequence[float]], unit: str) -> Figure:
    """Draw a matrix, its first row on top."""
    from plotly import graph_objects

    shown = [label(name) for name in names]
    drawn = graph_objects.Heatmap(
        x=shown, y=shown, z=[list(row) for row in values], colorbar={"title": label(unit)}, texttemplate="%{z:.2f}"
    )
    return _titled(graph_objects.Figure(drawn), title, yaxis_autorange="reversed")


def _titled(figure: Any, title: str, **layout: object) -> Figure:
    figure.update_layout(title=label(title), **layout)
    return figure


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Return the lengths of the error bar upwards and downwards."""
    if estimate.low is not None and estimate.high is not None:
        return estimate.high - estimate.mean, estimate.mean - estimate.low
    return (estimate.se or 0.0,) * 2
