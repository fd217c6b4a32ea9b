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
    rows = [[_title(what), *_cells(headline, what)] for what in headline.measures]
    where = "the final evaluation" if headline.rows else "in validation"
    return table(["", *heads], rows, caption=f"{headline.game}, {where}")


def _title(what: Measure) -> str:
    unit = f", {what.unit}" if what.unit else ""
    return f"{what.name}{unit}{_ARROWS[what.better]}"


def _cells(headline: Headline, what: Measure) -> list[Html]:
    """Format figures with their intervals; validation has none."""
    if headline.rows or what.name == EXACT:
        return [cell(figure) for figure in what.figures]
    return [element("td", number(figure.mean if figure else None)) for figure in what.figures]
