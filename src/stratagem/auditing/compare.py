"""Comparison of two cards: the change of each figure, with limits that cover.

The true change lies in [L2 - U1, U2 - L1], where L and U are the limits of both cards: it is outside with at most the
sum of their chances to fail, however the two audits depend on each other. A difference with the standard errors of two
maxima does not cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stratagem.auditing.card import Card
from stratagem.auditing.figure import Figure, Group
from stratagem.errors import BadParameter
from stratagem.games.base import Json


@dataclass(frozen=True)
class Change:
    """Figure of two cards."""

    name: str
    group: Group
    unit: str
    before: Figure
    after: Figure

    @property
    def difference(self) -> float | None:
        """Second value less the first."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    @property
    def lower(self) -> float | None:
        """Lower limit of the change."""
        return _less(self.after.lower, self.before.upper)

    @property
    def upper(self) -> float | None:
        """Upper limit of the change."""
        return _less(self.after.upper, self.before.lower)

    @property
    def changed(self) -> bool:
        """True if no change is outside the limits."""
        return (self.lower is not None and self.lower > 0.0) or (self.upper is not None and self.upper < 0.0)

    def to_json(self) -> Json:
        """Return the change by name."""
        return {
            "figure": self.name,
            "before": self.before.value,
            "after": self.after.value,
            "difference": self.difference,
            "lower": self.lower,
            "upper": self.upper,
            "changed": self.changed,
            "unit": self.unit,
        }


def _less(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low


def changes(before: Card, after: Card) -> Sequence[Change]:
    """Return the changes of all figures that both cards have; refused where there are none."""
    first = before.by_name
    shared = [
        Change(figure.name, figure.group, figure.unit, first[figure.name], figure)
        for figure in after.figures
        if figure.name in first and first[figure.name].unit == figure.unit
    ]
    if not shared:
        raise BadParameter(
            f"The two audits have no figure in common: one is of {', '.join(before.games)}, the other of "
            f"{', '.join(after.games)}."
        )
    return shared
