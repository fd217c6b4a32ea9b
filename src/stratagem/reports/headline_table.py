"""Headline as a table: figures in rows, stages in columns, the chosen one marked."""

from __future__ import annotations

from stratagem.reports.headline import EXACT, Headline, Measure
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import cell, number
from stratagem.reports.section import table

_ARROWS = {"higher": " \u2191", "lower": " \u2193"}


def headline_table(headlines: list[Headline]) -> Html:
    """Make a table for each game; nothing for a single stage, which the verdict describes."""
    return join(*(_table(headline) for headline in headlines if len(headline.stages) > 1 and headline.measures))


def _table(headline: Headline) -> Html:
    heads = [f"{name}, chosen" if index == headline.chosen else name for index, name in enumerate(headline.stages)]
    rows = [[_title(measure), *_cells(headline, measure)] for measure in headline.measures]
    source = "final evaluation" if headline.rows else "validation"
    return table(["", *heads], rows, caption=f"{headline.game}, {source}")


def _title(measure: Measure) -> str:
    unit = f", {measure.unit}" if measure.unit else ""
    return f"{measure.name}{unit}{_ARROWS[measure.better]}"


def _cells(headline: Headline, measure: Measure) -> list[Html]:
    """Format figures with their intervals; validation has none."""
    if headline.rows or measure.name == EXACT:
        return [cell(figure) for figure in measure.figures]
    return [element("td", number(figure.mean if figure else None)) for figure in measure.figures]
