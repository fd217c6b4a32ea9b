"""Legend of an evaluation: what its figures are, the marks beside them, the nulls, and the corrected comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stratagem.measure.comparisons import NAME
from stratagem.measure.evaluate import GameResult
from stratagem.measure.figures.figure import OF_PAYOFFS
from stratagem.measure.metrics import METRICS
from stratagem.measure.report import scale_of
from stratagem.show.legend import explain, explain_marks
from stratagem.show.table import ResultTable


def legend(results: Sequence[GameResult], tables: Sequence[ResultTable], comparisons: int) -> list[str]:
    """Return a line for each figure of the tables, and the sentences about what they print."""
    lines = [*explain(tables), *explain_marks(tables), *_describe_scale(results, tables)]
    lines += [f"The null of {', '.join(names)} is {case}." for case, names in _null_cases(tables).items()]
    lines += _remarks(results, tables)
    if any("by seat" in table.title for table in tables):
        lines.append("Figures by seat have no null, since seats differ. Compare them with another player there.")
    if comparisons >= 2:
        lines.append(f"Holm p is adjusted for the {comparisons} comparisons of this evaluation: {NAME}.")
    return lines


def _describe_scale(results: Sequence[GameResult], tables: Sequence[ResultTable]) -> Iterator[str]:
    """Yield the sentence about the common scale, where a table has figures on it."""
    if not any(table.title.endswith("on the common scale") for table in tables):
        return
    names = {name for result in results for row in result.rows for name in row.metrics}
    scaled = [
        metric.declaration().label for name, metric in METRICS.items() if metric.unit == OF_PAYOFFS and name in names
    ]
    if any(scale_of(result.game) != 1.0 for result in results):
        yield f"On the common scale, that of {', '.join(scaled)}, mutual cooperation has payoff 3."


def _remarks(results: Sequence[GameResult], tables: Sequence[ResultTable]) -> list[str]:
    """Return the sentences that belong to printed figures in a game, each once."""
    keys = {key for table in tables for key in table.figures}
    shown = {(name, result.game): None for result in results for row in result.rows for name in row.metrics}
    remarks = [METRICS[name].remark(game) for name, game in shown if name in keys]
    return list(dict.fromkeys(filter(None, remarks)))


def _null_cases(tables: Sequence[ResultTable]) -> dict[str, list[str]]:
    """By case, the figures whose null is printed."""
    cases: dict[str, list[str]] = {}
    for table in tables:
        nulls = [row for row in table.rows if row.kind == "null"]
        for place, column in enumerate(table.columns):
            figure = table.figures.get(getattr(column, "key", ""))
            if figure and figure.null and any(row.values[place] != "" for row in nulls):
                cases.setdefault(figure.null, []).append(figure.label)
    return {case: list(dict.fromkeys(labels)) for case, labels in cases.items()}
