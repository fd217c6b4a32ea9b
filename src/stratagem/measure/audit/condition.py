"""Conditions on figures, such as `kuhn.exploitability.lower > 0.1`: one that holds fails the command."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.renamed.metrics import present_figure
from stratagem.measure.audit.measurement import PARTS, Measurement

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_SIGN = re.compile(r"[<>]=?(?=[^<>]*\Z)")
_BOUND = re.compile(r"[-+]?[0-9.eE+-]+")
_PARTS = {"value": "value, but limits", "lower": "lower limit", "upper": "upper limit"}
Outcome = Literal["holds", "does not hold", "inconclusive"]


@dataclass(frozen=True)
class Condition:
    """Comparison of one part of a figure with a number."""

    text: str
    name: str
    part: str
    sign: str
    bound: float

    def outcome(self, figures: Mapping[str, Measurement]) -> Outcome:
        """Return whether it holds; inconclusive where the figure was not measured."""
        figure = figures.get(self.name)
        value = None if figure is None else figure.part(self.part)
        if value is None:
            return "inconclusive"
        return "holds" if OPERATORS[self.sign](value, self.bound) else "does not hold"

    def why_inconclusive(self, figures: Mapping[str, Measurement]) -> str:
        """Return the reason why it is inconclusive, as a sentence."""
        figure = figures.get(self.name)
        if figure is None or all(figure.part(part) is None for part in PARTS):
            return f"{self.name} was not measured{f': {figure.why_not}' if figure and figure.why_not else '.'}"
        return f"{self.name} has no {_PARTS[self.part]}."


def read_condition(text: str) -> Condition:
    """Read a condition; the part is the value unless the name ends in `.lower` or `.upper`."""
    sign = _SIGN.search(text)  # the last one; a pattern of the whole condition would try every division of its spaces
    name, written = (text[: sign.start()].strip(), text[sign.end() :].strip()) if sign else ("", "")
    try:
        bound = float(written) if _BOUND.fullmatch(written) else None
    except ValueError:
        bound = None
    if sign is None or not name or bound is None:
        raise BadParameter(
            f"`fail_if=` takes a figure, a sign of {', '.join(OPERATORS)} and a number, such as "
            f"'kuhn.exploitability.lower > 0.1', not {text!r}."
        )
    figure, _, part = name.rpartition(".")
    if part not in PARTS:
        figure, part = name, "value"
    return Condition(text, present_figure(figure), part, sign[0], bound)


def check_conditions(conditions: Sequence[Condition], names: Collection[str], of: str = "audit") -> None:
    """Refuse a condition on a figure that no probe of the audit measures, or that is in no comparison."""
    for condition in conditions:
        if condition.name not in names:
            raise UnknownName(f"figure of this {of}", condition.name, sorted({*names}))
