"""Section of the final evaluation for any other algorithm: all metrics of every stage, by game."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.reports.files import GameTable, Row
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import cell, exact_cell, number
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, missing, table
from stratagem.reports.sections.results import in_order, why


def scores(data: RunData) -> Section:
    """Make the section with a table for each game."""
    evaluation = data.evaluation
    body = (
        join(*(_table(game, evaluation.rows) for game in evaluation.evaluation.games))
        if evaluation
        else missing(why(data))
    )
    return Section(
        name="scores",
        title="Final evaluation",
        shows="Every stage of the run against the same opponents on the same deals. No checkpoint was selected on "
        "these deals. Random play is the chance level.",
        body=body,
    )


def _table(game: GameTable, names: dict[str, str]) -> Html:
    rows = list(in_order(game, names))
    metrics = [name for name in dict.fromkeys(n for _, row in rows for n in row.metrics) if _is_measured(rows, name)]
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
        [
            heading,
            *(element("td", number(nulls.get(name)) if name in nulls else "") for name in metrics),
            *([""] if exact else []),
        ]
        for heading, nulls in _nulls(rows)
    ]
    heads = ["", *metrics, *(["exploitability (exact)"] if exact else [])]
    notes = [element("p", warning, class_="note") for warning in game.warnings]
    return join(element("h3", game.game), table(heads, lines), *notes)


def _nulls(rows: Sequence[tuple[str, Row]]) -> list[tuple[str, dict[str, float]]]:
    """Return the nulls of the figures: one row if all stages have the same, else one a stage."""
    by_stage = [(stage, row.nulls) for stage, row in rows if row.nulls]
    if len({tuple(nulls.items()) for _, nulls in by_stage}) == 1:
        return [("null", by_stage[0][1])]
    return [(f"null: {stage}", nulls) for stage, nulls in by_stage]


def _is_measured(rows: Sequence[tuple[str, Row]], metric: str) -> bool:
    """Return whether any stage has the figure."""
    return any(row.metrics.get(metric) is not None for _, row in rows)
