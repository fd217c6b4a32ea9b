"""Comparison of two cards: the change of each figure, with limits that cover.

Where both agents have payoffs on the same deals, the differences of the deals are paired: they have an interval by
Student's t, a p by sign flips, and Holm's correction over all of them.

Elsewhere the true change lies in [L2 - U1, U2 - L1], where L and U are the limits of both cards: it is outside with at
most the sum of their chances to fail, however the two audits depend on each other. A difference with the standard
errors of two maxima does not cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stratagem.base.errors import BadParameter
from stratagem.base.renamed.metrics import drawn_figure
from stratagem.games.base import Json
from stratagem.games.key import Key
from stratagem.measure.audit.card import Card
from stratagem.measure.audit.measurement import LEVEL, Group, Measurement, excludes_zero, students_level
from stratagem.measure.figures.audits import AGAINST
from stratagem.measure.statistics import Difference, Estimate, all_equal, holm, paired_difference, students


@dataclass(frozen=True)
class FigureChange:
    """Figure of two cards."""

    name: str
    group: Group
    unit: str
    before: Measurement
    after: Measurement
    paired: Difference | None = None
    """Difference over the deals that both have; None where there are none."""
    holm_p: float | None = None
    """p of the paired difference after Holm's correction."""

    @property
    def difference(self) -> float | None:
        """Second value less the first."""
        if self.paired is not None:
            return self.paired.estimate.mean
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    @property
    def lower(self) -> float | None:
        """Lower limit of the change."""
        return _less(self.after.lower, self.before.upper) if self.paired is None else self._interval.low

    @property
    def upper(self) -> float | None:
        """Upper limit of the change."""
        return _less(self.after.upper, self.before.lower) if self.paired is None else self._interval.high

    @property
    def _interval(self) -> Estimate:
        """Paired difference with its limits; equal differences have no spread, and no limits."""
        assert self.paired is not None
        estimate = self.paired.estimate
        return estimate if all_equal(estimate) else students(estimate)

    @property
    def changed(self) -> bool:
        """True if no change is outside the limits; by its p where the deals are paired."""
        return excludes_zero(self.lower, self.upper) if self.holm_p is None else self.holm_p <= LEVEL

    def to_json(self) -> Json:
        """Return the change by name."""
        return {
            "figure": self.name,
            "before": self.before.value,
            "after": self.after.value,
            "difference": self.difference,
            "lower": self.lower,
            "upper": self.upper,
            "deals": 0 if self.paired is None else self.paired.estimate.n,
            "holm_p": self.holm_p,
            "changed": self.changed,
            "unit": self.unit,
        }


def _less(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low


def changes(before: Card, after: Card) -> Sequence[FigureChange]:
    """Return the changes of all figures that both cards have; refused where there are none."""
    first = before.by_name
    same_deals = before.seed == after.seed
    shared = [
        FigureChange(
            figure.name, figure.group, figure.unit, one, figure, _paired_difference(one, figure) if same_deals else None
        )
        for figure in after.figures
        if (one := first.get(figure.name)) is not None and one.unit == figure.unit and _is_measured(one, figure)
    ]
    if not shared:
        raise BadParameter(
            f"The two audits have no figure in common: one is of {', '.join(before.games)}, the other of "
            f"{', '.join(after.games)}."
        )
    return _correct_changes(shared)


def left_out(before: Card, after: Card) -> list[str]:
    """Return a sentence for each probe that only one of two audits made, and for different numbers of decisions."""
    if not before.probes or not after.probes:  # of a card of an earlier version they are not known
        return []
    sentences = []
    for game in [game for game in before.probes if game in after.probes]:
        first, second = before.probes[game], after.probes[game]
        for name in dict.fromkeys([*first, *second]):
            if name not in second:
                sentences.append(f"{game}: only the first audit made the probe {name}, so it is left out.")
            elif name not in first:
                sentences.append(f"{game}: only the second audit made the probe {name}, so it is left out.")
            elif first[name] != second[name]:
                asked = f"{first[name]} decisions in the first audit and {second[name]} in the second"
                sentences.append(f"{game}: the probe {name} asked for {asked}, so their limits differ in width.")
    return sentences


def _is_measured(before: Measurement, after: Measurement) -> bool:
    return after.group != "against" and not (before.why_not and after.why_not)


def _paired_difference(before: Measurement, after: Measurement) -> Difference | None:
    """Return the difference over the deals that both agents played against the same player."""
    number = min(len(before.deals), len(after.deals))
    if number < 2 or before.method != after.method:
        return None
    return paired_difference(after.deals[:number], before.deals[:number], Key(0).at("change", drawn_figure(after.name)))


def _correct_changes(every: Sequence[FigureChange]) -> list[FigureChange]:
    """Add Holm's p over all paired differences."""
    paired = [change for change in every if change.paired is not None]
    adjusted = holm([change.paired.p_value for change in paired if change.paired is not None])
    by_name = dict(zip((change.name for change in paired), adjusted, strict=True))
    return [replace(change, holm_p=by_name.get(change.name)) for change in every]


def against(baseline: Card, agent: Card) -> list[Measurement]:
    """Return the differences of an agent from a baseline as figures of the agent's card."""
    return as_figures(changes(baseline, agent), baseline)


def as_figures(found: Sequence[FigureChange], before: Card) -> list[Measurement]:
    """Return changes from a card as figures; one without a limit is none."""
    return [_difference(change, before.agent) for change in found if _is_known(change)]


def against_name(name: str) -> str:
    """Return the name of the difference of a figure."""
    return f"{name}{AGAINST}"


def _is_known(change: FigureChange) -> bool:
    return change.paired is not None or change.lower is not None or change.upper is not None


def _difference(change: FigureChange, baseline: str) -> Measurement:
    deals = 0 if change.paired is None else change.paired.estimate.n
    how = f"Paired over {deals} deals that both played." if deals else "By the limits of both."
    interval = students_level(deals) if deals else "from limits to limits"
    return Measurement(
        name=against_name(change.name),
        group="against",
        value=change.difference,
        lower=change.lower,
        upper=change.upper,
        interval="" if change.lower is None and change.upper is None else interval,
        n=deals,
        unit=change.unit,
        method=f"{change.name} less that of {baseline}. {how}",
        holm_p=change.holm_p,
    )
