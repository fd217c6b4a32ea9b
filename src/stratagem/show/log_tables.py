"""Table and sentences of systems that are compared by the logs of evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from stratagem.base.number_texts import number
from stratagem.measure.figures.catalogue import figures_of
from stratagem.measure.logs.comparison import ScoreComparison
from stratagem.show.table import ResultTable, TableRow, Value, within

_LINES = 6
"""Number of comparisons that have a sentence above the table."""
_FIGURES = ("first_score", "second_score", "score_difference", "score_holm_p", "paired_items", "detectable_difference")
_KINDS = {"differs": "counts", "no claim": "doubt"}
"""Kind of a row by its mark."""


def comparisons_table(found: Sequence[ScoreComparison], wished: float | None) -> ResultTable:
    """Return a row for each comparison, with the warnings about limits that may not cover."""
    figures = figures_of(*_FIGURES, *(["needed_items"] if wished else []))
    rows = tuple(TableRow((*_values(one), *([one.needed] if wished else []), _mark(one)), _kind(one)) for one in found)
    warnings = dict.fromkeys(f"{one.name}: {one.warning}" for one in found if one.warning)
    title = f"each system less {found[0].first}"
    return ResultTable(title, ("second", "score", *figures, ""), rows, tuple(_notes(found)), tuple(warnings))


def _values(one: ScoreComparison) -> tuple[Value, ...]:
    difference = _difference(one)
    items: Value = (one.estimate.n, one.num_clusters) if one.is_clustered else one.estimate.n
    return (one.second, one.measure, *one.means, difference, one.holm_p, items, one.detectable)


def _difference(one: ScoreComparison) -> Value:
    """Return the difference with its limits, or its bounds where scores are missing for a reason."""
    if one.bounds is not None:
        return within(None, one.bounds.lower, one.bounds.upper)
    return within(one.estimate.mean, one.estimate.low, one.estimate.high)


def _mark(one: ScoreComparison) -> str:
    return "differs" if one.differs else "no claim" if one.why_no_claim else ""


def _kind(one: ScoreComparison) -> str:
    return _KINDS.get(_mark(one), "")


def _notes(found: Sequence[ScoreComparison]) -> Iterator[str]:
    """Yield what was averaged, left out, and missing."""
    if (most := max(one.repeats for one in found)) > 1.0:
        yield f"An item has up to {number(most, 1)} answers of a system: repeats, whose mean is its score."
    for one in found:
        if one.only_one:
            yield f"{one.name}: {one.only_one} items that only one system has are left out."
        if one.bounds is not None:
            bounds = one.bounds
            yield (
                f"{one.name}: {one.why_no_claim} The difference of these items lies between {number(bounds.worst)} and "
                f"{number(bounds.best)}, with sampling {number(bounds.lower)} to {number(bounds.upper)}; nothing is "
                "claimed."
            )


def summarise_comparisons(found: Sequence[ScoreComparison]) -> list[str]:
    """Return a sentence for each of the first comparisons: the verdict."""
    lines = [_sentence(one) for one in found[:_LINES]]
    return [*lines, f"And {len(found) - _LINES} more."] if len(found) > _LINES else lines


def _sentence(one: ScoreComparison) -> str:
    estimate, on = one.estimate, f"on {one.measure}"
    if one.why_no_claim:
        return f"{one.second} and {one.first} {on}: no claim. {one.why_no_claim}"
    limits = f"{number(estimate.low)} to {number(estimate.high)}" if estimate.low is not None else "no limits"
    of = f"over {estimate.n} items{f' in {one.num_clusters} clusters' * one.is_clustered} (Holm p {_p(one)})"
    if one.differs:
        way = "higher" if estimate.mean > 0 else "lower"
        return f"{one.second} scores {number(abs(estimate.mean))} {way} than {one.first} {on}, {limits} {of}."
    shown = "" if math.isnan(one.detectable) else f" These items could show {number(one.detectable)}."
    return (
        f"No difference of {one.second} from {one.first} is shown {on}: {number(estimate.mean)}, {limits} {of}.{shown}"
    )


def _p(one: ScoreComparison) -> str:
    assert one.holm_p is not None
    return number(one.holm_p, 4)
