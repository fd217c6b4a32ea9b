"""Legend under the tables of `stratagem eval`: the marks, columns and nulls that occur in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from stratagem.api.tables import few_deals
from stratagem.evaluation.comparisons import NAME
from stratagem.evaluation.evaluate import GameResult, Row
from stratagem.evaluation.exploitability.methods import BOUNDS
from stratagem.evaluation.metrics import METRICS
from stratagem.evaluation.metrics.base import OF_PAYOFFS
from stratagem.evaluation.report import scale_of
from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.validity import ENDS

_MARKS = (
    "A bare figure is an exact expectation. ± is a standard error over deals (±? for a single deal). a…b is a 95 % "
    "interval. – is undefined or not available."
)
_COLUMNS = {
    "exploit": "`exploit` is the mean advantage of a pool's adversaries, `worst case` that of the best responder.",
    "externality": "`ext` is the mean externality of a round, as the game defines it.",
    "collusion": "`coll` is the rate of collusion, as the game defines it.",
    "nra": "`NRA` is the normalised relative advantage, from -1 to 1.",
}
"""Sentences about columns, by metric."""
_WIDTH = 100


def legend(results: Sequence[GameResult], comparisons: int) -> str:
    """Explain the marks that occur in the tables."""
    caption = wrap(" ".join([_MARKS, *_of_columns(results)]), _WIDTH)
    methods = {row.exploitability.method for result in results for row in result.rows}
    if "scored" in methods:
        caption.append("Figures by log-probabilities have bounds a…b that hold for certain, no interval of confidence.")
    validities = [row.validity for result in results for row in result.rows if row.validity]
    if any(share.mean for validity in validities for share in validity.ends.values()):
        caption.append(f"{', '.join(ENDS)} are ends of replies, each a part of one of the kinds before them.")
    if methods & set(BOUNDS):
        caption.append("≥ is a lower bound: the gain of an exploiter under a budget.")
    if "replies" in methods:
        caption.append("Of an exploitability from replies each end holds with 95 %, both together with 90 %.")
    caption += [f"The null of {', '.join(names)} is {case}." for case, names in _null_cases(results).items()]
    caption += _metric_remarks(results)
    caption += few_deals(estimate for result in results for row in result.rows for estimate in _estimates(row))
    if any(row.by_seat for result in results for row in result.rows):
        caption.append(
            "Figures by seat have no null, since seats differ. Compare them with another player at the same seat."
        )
    if comparisons >= 2:
        caption.append(f"Holm p is adjusted for the {comparisons} comparisons of this evaluation: {NAME}.")
    return "\n".join(caption)


def _estimates(row: Row) -> Iterator[Estimate | None]:
    """Yield the figures of a row that have intervals of their own."""
    yield from row.metrics.values()
    yield from (estimate for seat in row.by_seat for estimate in seat.metrics.values())
    if row.validity:
        yield from (*row.validity.shares.values(), *row.validity.ends.values())
    if row.exploitability.is_bound:
        yield from (row.exploitability.estimate, *(seat.value for seat in row.exploitability.by_seat))


def _of_columns(results: Sequence[GameResult]) -> Iterator[str]:
    """Yield the sentences about the columns that are printed."""
    metrics = {name for result in results for row in result.rows for name in row.metrics}
    scaled = [name for name, metric in METRICS.items() if metric.unit == OF_PAYOFFS and name in metrics]
    if scaled and any(scale_of(result.game) != 1.0 for result in results):
        *names, last = scaled
        of = f"{', '.join(names)} and {last}" if names else last
        yield f"On the common scale, that of {of}, mutual cooperation has payoff 3."
    yield from (sentence for name, sentence in _COLUMNS.items() if name in metrics)


def _metric_remarks(results: Sequence[GameResult]) -> list[str]:
    """Return the sentences that belong to printed figures, each once."""
    shown = {(name, result.game): None for result in results for row in result.rows for name in row.metrics}
    return list(dict.fromkeys(remark for name, game in shown if (remark := METRICS[name].remark(game))))


def _null_cases(results: Sequence[GameResult]) -> dict[str, list[str]]:
    """By case, the metrics whose null is its figure."""
    cases: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for result in results for row in result.rows for name in row.nulls):
        cases.setdefault(METRICS[name].null_case, []).append(name)
    return cases
