"""The headline as a table: the figures down, the stages across, the chosen one marked."""

from __future__ import annotations

from stratagem.reports.headline import EXACT, Headline, Measure
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import cell, number
from stratagem.reports.section import table

_ARROWS = {"higher": " \u2191", "lower": " \u2193"}


def headline_table(found: list[Headline]) -> Html:
    """A table a game; nothing where there is one stage, of which the verdict tells all."""
    return join(*(_table(one) for one in found if len(one.stages) > 1 and one.measures))


def _table(one: Headline) -> Html:
    heads = [f"{name}, chosen" if place == one.chosen else name for place, name in enumerate(one.stages)]
    rows = [[_title(what), *_cells(one, what)] for what in one.measures]
    where = "the final evaluation" if one.rows else "in validation"
    return table(["", *heads], rows, caption=f"{one.game}, {where}")


def _title(what: Measure) -> str:
    unit = f", {what.unit}" if what.unit else ""
    return f"{what.name}{unit}{_ARROWS[what.better]}"


def _cells(one: Headline, what: Measure) -> list[Html]:
    """With their intervals in an evaluation; what validation measured has none."""
    if one.rows or what.name == EXACT:
        return [cell(figure) for figure in what.figures]
    return [element("td", number(figure.mean if figure else None)) for figure in what.figures]
