"""The last table of a run whose algorithm has no table of its own: all that was measured of every stage, by game."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.reports.files import GameTable, Row
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import cell, exact_cell, number
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, missing, table
from stratagem.reports.sections.results import in_order, why


def scores(data: RunData) -> Section:
    """A table a game."""
    found = data.evaluation
    body = join(*(_table(game, found.rows) for game in found.evaluation.games)) if found else missing(why(data))
    return Section(
        name="scores",
        title="What was learnt",
        shows="Every stage of the run against the same opponents on the same deals, on which nothing was chosen, and "
        "random play as the chance level.",
        body=body,
    )


def _table(game: GameTable, names: dict[str, str]) -> Html:
    rows = list(in_order(game, names))
    metrics = [name for name in dict.fromkeys(n for _, row in rows for n in row.metrics) if _told(rows, name)]
    exact = any(row.exact.exploitability is not None for _, row in rows)
    lines = [
        [
            stage,
            *(cell(row.metrics.get(name)) for name in metrics),
            *([exact_cell(row.exact.exploitability, row.exact.not_computed)] if exact else []),
        ]
        for stage, row in rows
    ]
    lines += [
        [said, *(element("td", number(nulls.get(name)) if name in nulls else "") for name in metrics)]
        for said, nulls in _nulls(rows)
    ]
    heads = ["", *metrics, *(["exploitability (exact)"] if exact else [])]
    notes = [element("p", said, class_="note") for said in game.warnings]
    return join(element("h3", game.game), table(heads, lines), *notes)


def _nulls(rows: Sequence[tuple[str, Row]]) -> list[tuple[str, dict[str, float]]]:
    """The nulls of the figures: one row if all stages have the same, else one a stage."""
    found = [(stage, row.nulls) for stage, row in rows if row.nulls]
    if len({tuple(nulls.items()) for _, nulls in found}) == 1:
        return [("null", found[0][1])]
    return [(f"null: {stage}", nulls) for stage, nulls in found]


def _told(rows: Sequence[tuple[str, Row]], metric: str) -> bool:
    """Whether any stage has the figure."""
    return any(row.metrics.get(metric) is not None for _, row in rows)
