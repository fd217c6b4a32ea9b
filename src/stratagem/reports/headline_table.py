"""Headline as tables: figures in rows, stages in columns, the chosen one marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stratagem.reports.headline import EXACT, Headline, Measure
from stratagem.show.html import Html, join
from stratagem.show.markup import table_html, with_intervals
from stratagem.show.table import Numbers, Table, Value, text_table


def headline_table(headlines: list[Headline]) -> Html:
    """Make a table for each game; nothing for a single stage, which the verdict describes."""
    return join(*(table_html(with_intervals(table)) for table in headline_tables(headlines)))


def headline_tables(headlines: Iterable[Headline]) -> list[Table]:
    """Return a table for each game with several stages."""
    return [_table(headline) for headline in headlines if len(headline.stages) > 1 and headline.measures]


def _table(headline: Headline) -> Table:
    heads = [f"{name}, chosen" if index == headline.chosen else name for index, name in enumerate(headline.stages)]
    source = "final evaluation" if headline.rows else "validation"
    rows = [(measure.figure, measure.unit, *_cells(headline, measure)) for measure in headline.measures]
    return text_table(f"{headline.game}, {source}", ("", "unit", *map(Numbers, heads)), rows)


def _cells(headline: Headline, measure: Measure) -> Sequence[Value]:
    """Return figures with their uncertainty; those of validation have none."""
    if headline.rows or measure.name == EXACT:
        return measure.figures
    return [figure and figure.mean for figure in measure.figures]
