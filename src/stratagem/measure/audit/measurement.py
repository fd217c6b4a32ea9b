"""Measurement of an audit: a number with its interval, its null, and what it was measured from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from stratagem.base.errors import BadRecord
from stratagem.base.renamed.metrics import present_figure
from stratagem.games.base import Json
from stratagem.measure.deal_means import FEW
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.statistics import Estimate, all_equal, holm, students

Group = Literal["exploitability", "safety", "competence", "consistency", "talk", "cost", "against"]
GROUPS: tuple[Group, ...] = get_args(Group)
LEVEL = 0.05
"""Chance of any alarm in an audit of an agent for which every null is true."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number of a card."""

    name: str
    """Name by game and quantity: `kuhn.exploitability`."""
    group: Group
    value: float | None = None
    """Estimate; None where there is none."""
    lower: float | None = None
    upper: float | None = None
    """Upper end of the interval that `interval` names."""
    interval: str = ""
    n: int = 0
    """Number of observations: replies, deals or decisions; 0 where the figure is exact."""
    unit: str = ""
    method: str = ""
    """Sentence on how it was measured."""
    chance: float | None = None
    """Figure of uniformly random play."""
    best: float | None = None
    """Figure of an equilibrium or of perfect play."""
    p: float | None = None
    """p-value of the null hypothesis, before the correction; None where nothing is tested."""
    null: str = ""
    """Null hypothesis in words."""
    certain: bool = False
    """True if what was seen cannot come from an agent for which the null is true."""
    holm_p: float | None = None
    """p-value after Holm's correction over all tests of the audit."""
    why_not: str = ""
    """Reason why the figure was not measured."""
    example: str = ""
    """Situation and reply that show it, in words."""
    episode: str = ""
    """Id of a recorded episode that shows it."""
    record: str = ""
    """Folder of that episode in the folder of the audit."""
    deals: tuple[float, ...] = ()
    """Value by deal, in order, for comparison with another agent on the same deals; empty where it has no deals."""

    @property
    def alarm(self) -> bool:
        """True if the null is rejected at 5 % after the correction, or cannot be true."""
        return self.group != "against" and (self.certain or (self.holm_p is not None and self.holm_p <= LEVEL))

    @property
    def differs(self) -> bool:
        """True if it is a difference between two agents, and cannot be 0."""
        if self.group != "against":
            return False
        return self.holm_p <= LEVEL if self.holm_p is not None else excludes_zero(self.lower, self.upper)

    def part(self, name: str) -> float | None:
        """Return the value, or the lower or the upper end."""
        return {"value": self.value, "lower": self.lower, "upper": self.upper}[name]

    def to_json(self) -> Json:
        """Return every field by name."""
        return {**asdict(self), "deals": [*self.deals], "alarm": self.alarm}


def excludes_zero(lower: float | None, upper: float | None) -> bool:
    """Return whether 0 is outside of limits."""
    return (lower is not None and lower > 0.0) or (upper is not None and upper < 0.0)


PARTS = ("value", "lower", "upper")
_NUMBERS = (*PARTS, "n", "chance", "best", "p", "holm_p")


def read_measurement(data: Any) -> Measurement:
    """Read a figure that `to_json` wrote, maybe under its former name."""
    try:
        figure = Measurement(**{name: value for name, value in data.items() if name != "alarm"})
        figure = replace(figure, name=present_figure(figure.name), deals=tuple(map(float, figure.deals)))
        for field in _NUMBERS:
            float(getattr(figure, field) or 0.0)
        if not all(map(math.isfinite, figure.deals)):
            raise ValueError
        return figure
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise BadRecord(f"This is no figure of a card: {str(data)[:100]!r}.") from error


def fill_figure(figure: Measurement, estimate: Estimate | None) -> Measurement:
    """Put an estimate into a figure, with a 95 % interval: by Student's t where the estimate has none.

    Equal observations have no spread, and no interval.
    """
    if estimate is None:
        return replace(figure, why_not="It is not defined for what was played.")
    known = estimate if estimate.low is not None or all_equal(estimate) else students(estimate)
    holds = "95 %" if known == estimate else students_level(known.n)
    interval = "" if known.exact or known.low is None else holds
    return replace(figure, value=known.mean, lower=known.low, upper=known.high, interval=interval, n=known.n)


def of_exploitability(figure: Measurement, found: Exploitability) -> Measurement:
    """Put an exploitability into a figure, with its limits."""
    if found.estimate is None:
        return replace(figure, why_not=found.why_not)
    estimate = found.estimate
    return replace(
        figure,
        value=None if math.isnan(estimate.mean) else estimate.mean,
        lower=estimate.low,
        upper=estimate.high,
        n=estimate.n,
        unit=found.unit,
        best=0.0,
        null="no deviation gains anything",
    )


def students_level(n: int) -> str:
    """Return the level at which Student's interval of n observations holds: few do not show how skewed they are."""
    return "95 %, and less where few observations are skewed" if n < FEW else "95 %"


def correct_tests(figures: Sequence[Measurement]) -> list[Measurement]:
    """Add Holm's p over all tests of an audit."""
    tested = [figure for figure in figures if figure.p is not None]
    adjusted = dict(zip((figure.name for figure in tested), holm([figure.p or 0.0 for figure in tested]), strict=True))
    return [replace(figure, holm_p=adjusted.get(figure.name)) for figure in figures]
