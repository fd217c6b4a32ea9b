"""Comparison of systems on the items of logs: each further system less the first, for every measure.

The p of a difference goes with its limits; of right or wrong without clusters it is that of McNemar's exact test.
Holm's correction is over all comparisons of the call.

Where scores are missing for a reason nothing is claimed: whatever fell out may be what differs. There the difference
has bounds, at the least and at the largest score of what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.base.errors import BadParameter
from stratagem.games.base import Json
from stratagem.measure.audit.measurement import LEVEL, Measurement
from stratagem.measure.comparisons import Family
from stratagem.measure.logs.coverage import SimulatedCell, cell_of, warning_of
from stratagem.measure.logs.limits import is_binary, mean_limits, outcomes_of
from stratagem.measure.logs.scores import PairedScores, ScoreTable, pair_scores
from stratagem.measure.statistics import Array, Estimate, all_equal, detectable, students_p, times_as_many

FAMILY = "each further system less the first, for every measure"
SINGLE = "difference"
"""Name of the only comparison of a call in conditions, beside its own name."""


class ItemBounds(NamedTuple):
    """Mean difference at the least and at the largest score of what is missing, each with a limit of 95 %."""

    worst: float
    best: float
    lower: float
    upper: float


@dataclass(frozen=True)
class ScoreComparison:
    """Difference of a system from the first, for one measure."""

    measure: str
    first: str
    second: str
    means: tuple[float, float]
    """Mean score of each, over the items of the comparison."""
    estimate: Estimate
    """Mean difference over items with its limits; of the scores that are there, where some are missing."""
    num_clusters: int
    """Number of independent clusters; the number of items where none are named."""
    repeats: float
    detectable: float
    """Smallest difference that these items would show four times in five, in the first step of Holm's correction."""
    needed: int | None
    """Number of items that would show the wished difference so; None where none is wished, or it is not known."""
    only_one: int
    reasons: Mapping[str, Mapping[str, int]]
    bounds: ItemBounds | None
    """Bounds where answers are missing for a reason; None where none are."""
    p: float | None
    cell: SimulatedCell
    holm_p: float | None = None

    @property
    def name(self) -> str:
        """Name in conditions: the second system and the measure."""
        return f"{self.second}.{self.measure}"

    @property
    def differs(self) -> bool:
        """True if no difference is rejected at 5 % after the correction."""
        return self.holm_p is not None and self.holm_p <= LEVEL

    @property
    def warning(self) -> str:
        """Sentence on limits that cover in fewer than 94 % of simulated logs of this kind; empty where they do."""
        return warning_of(self.cell) if self.estimate.low is not None and self.bounds is None else ""

    @property
    def why_no_claim(self) -> str:
        """Reason why nothing is claimed, as a sentence; empty where something may be."""
        if self.bounds is not None:
            told = "; ".join(
                f"{system} lacks {' and '.join(f'{count} ({reason})' for reason, count in reasons.items())}"
                for system, reasons in self.reasons.items()
                if reasons
            )
            return f"Scores are missing for a reason: {told}."
        return "" if self.p is not None else "It needs two items that both systems have, in two clusters."

    def to_json(self) -> Json:
        """Return the comparison by name."""
        bounds = None if self.bounds is None else self.bounds._asdict()
        known = self.estimate if self.bounds is None else Estimate(self.estimate.mean)
        return {
            "measure": self.measure,
            "first": self.first,
            "second": self.second,
            "first_mean": self.means[0],
            "second_mean": self.means[1],
            "difference": known.mean,
            "lower": known.low,
            "upper": known.high,
            "se": known.se,
            "p": self.p,
            "holm_p": self.holm_p,
            "differs": self.differs,
            "items": self.estimate.n,
            "clusters": self.num_clusters,
            "repeats": self.repeats,
            "detectable": None if math.isnan(self.detectable) else self.detectable,
            "items_needed": self.needed,
            "only_in_one": self.only_one,
            "missing": {system: dict(reasons) for system, reasons in self.reasons.items()},
            "bounds": bounds,
            "warning": self.warning,
        }

    def measurements(self) -> list[Measurement]:
        """Return the figures that conditions name: the difference, what could be shown, and Holm's p."""
        known = self.bounds is None
        unit = "score"
        items = f"{self.estimate.n} items" + (f" in {self.num_clusters} clusters" * self.is_clustered)
        difference = Measurement(
            name=self.name,
            group="against",
            value=self.estimate.mean if known else None,
            lower=self.estimate.low if known else None,
            upper=self.estimate.high if known else None,
            interval="95 %" if known and self.estimate.low is not None else "",
            n=self.estimate.n,
            unit=unit,
            method=f"{self.second} less {self.first} on {self.measure}, paired over {items}.",
            holm_p=self.holm_p,
            why_not=self.why_no_claim,
        )
        shown = None if math.isnan(self.detectable) else self.detectable
        return [
            difference,
            Measurement(name=f"{self.name}.detectable", group="competence", value=shown, unit=unit),
            Measurement(name=f"{self.name}.holm_p", group="competence", value=self.holm_p),
        ]

    @property
    def is_clustered(self) -> bool:
        """True if some items lie in one cluster."""
        return self.num_clusters < self.estimate.n


def compare_scores(table: ScoreTable, baseline: str = "", wished: float | None = None) -> list[ScoreComparison]:
    """Compare each system with the first, or with a baseline, for every measure that both have."""
    systems = table.systems()
    first = baseline or systems[0]
    pairs = [
        (measure, second)
        for measure in table.measures
        if first in table.systems(measure)
        for second in table.systems(measure)
        if second != first
    ]
    level = LEVEL / max(1, len(pairs))
    found = [_compare(table, measure, first, second, level, wished) for measure, second in pairs]
    if all(one.estimate.n == 0 and one.bounds is None for one in found):
        raise BadParameter(_nothing_shared(table, first))
    family = Family(FAMILY, tuple(one.name for one in found))
    adjusted = family.holm({one.name: one.p for one in found})
    return [replace(one, holm_p=adjusted.get(one.name)) for one in found]


def _compare(
    table: ScoreTable, measure: str, first: str, second: str, level: float, wished: float | None
) -> ScoreComparison:
    pairs = pair_scores(table, measure, first, second)
    here = ~np.isnan(pairs.differences)
    clusters = None if pairs.clusters is None else pairs.clusters[here]
    differences = pairs.differences[here]
    num_clusters = len(differences) if clusters is None else len(np.unique(clusters))
    least, most = table.range_of(measure)
    widest = most - least if (least, most) == (0.0, 1.0) else math.inf
    estimate, freedom, p = _estimate(differences, clusters, num_clusters, widest)
    bounds = _bounds(pairs, widest) if pairs.num_missing else None
    tested = bounds is None and num_clusters >= 2
    factor = times_as_many(estimate, wished, freedom, level) if wished and tested else math.nan
    return ScoreComparison(
        measure=measure,
        first=first,
        second=second,
        means=(_mean(pairs.first[here]), _mean(pairs.second[here])),
        estimate=estimate,
        num_clusters=num_clusters,
        repeats=pairs.repeats,
        detectable=detectable(estimate, freedom, level, least=2) if tested else math.nan,
        needed=math.ceil(factor * estimate.n) if math.isfinite(factor) else None,
        only_one=pairs.only_one,
        reasons=pairs.reasons,
        bounds=bounds,
        p=p if tested else None,
        cell=cell_of(outcomes_of(differences), len(differences), num_clusters),
    )


def _estimate(
    differences: Array, clusters: NDArray[np.intp] | None, num_clusters: int, widest: float
) -> tuple[Estimate, float | None, float | None]:
    """Return the mean with its limits, its degrees of freedom and its p; equal differences may have no limits.

    No limit is beyond the widest difference that scores from 0 to 1 can have.
    """
    n = len(differences)
    if num_clusters < 2:
        return Estimate(_mean(differences), None, n), None, None
    found = mean_limits(differences, clusters)
    freedom, estimate = float(found.freedom), Estimate(float(found.mean), float(found.se), n)
    counted = clusters is None and is_binary(differences)
    p = exact_p(differences) if counted else float(found.p)
    if all_equal(estimate) and not counted:
        return estimate, freedom, students_p(replace(estimate, n=num_clusters))
    low, high = max(-widest, float(found.low)), min(widest, float(found.high))
    return Estimate(estimate.mean, estimate.se, n, low, high), freedom, p


def _mean(values: Array) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan


def exact_p(differences: Array) -> float:
    """Return McNemar's exact p of right or wrong: that of all sign flips, which differ in those that are not 0."""
    from scipy.special import bdtr  # the binomial distribution function

    won, lost = int((differences > 0).sum()), int((differences < 0).sum())
    return min(1.0, 2.0 * float(bdtr(min(won, lost), won + lost, 0.5))) if won + lost else 1.0


def _bounds(pairs: PairedScores, widest: float) -> ItemBounds:
    """Return the mean differences in the worst and in the best case, with the limits of each."""
    count = len(pairs.worst) if pairs.clusters is None else len(np.unique(pairs.clusters))
    worst, *_ = _estimate(pairs.worst, pairs.clusters, count, widest)
    best, *_ = _estimate(pairs.best, pairs.clusters, count, widest)
    lower = worst.mean if worst.low is None else worst.low
    return ItemBounds(worst.mean, best.mean, lower, best.mean if best.high is None else best.high)


def _nothing_shared(table: ScoreTable, first: str) -> str:
    measures = table.measures
    others = [system for system in table.systems() if system != first]
    shown = {
        system: next(
            (
                item
                for measure in measures
                if system in table.systems(measure)
                for item in table.answers(measure, system)
            ),
            "",
        )
        for system in (first, others[0])
    }
    examples = " and ".join(f"{name!r} has {item!r}" for name, item in shown.items())
    return (
        f"The systems have no item of a common measure: {examples}, and the measures are {', '.join(measures[:6])}; "
        "`item=` and `score=` name the columns."
    )


def figures_of(found: Sequence[ScoreComparison]) -> dict[str, Measurement]:
    """Return the figures that conditions name; the only difference of a call is also `difference`."""
    figures = {figure.name: figure for one in found for figure in one.measurements()}
    if len(found) == 1:
        figures |= {name.replace(found[0].name, SINGLE, 1): figure for name, figure in [*figures.items()]}
    return figures
