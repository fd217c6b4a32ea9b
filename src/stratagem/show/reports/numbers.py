"""Figures in cells of a report: the interval, and whether two figures differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from stratagem.base.number_texts import MISSING, number
from stratagem.measure.statistics import Estimate, students
from stratagem.show.html import Html, element

_REACH = NormalDist().inv_cdf(0.975)


def interval(figure: Estimate) -> tuple[float, float] | None:
    """Return the 95 % interval: the figure's own, or Student's; the normal one where the observations are not counted.

    None for an exact figure or a single observation.
    """
    if figure.exact or math.isnan(figure.mean):
        return None
    if figure.low is not None and figure.high is not None:
        return figure.low, figure.high
    if figure.se is None:
        return None
    known = students(Estimate(figure.mean, figure.se, figure.n))
    if known.low is not None and known.high is not None:
        return known.low, known.high
    return figure.mean - _REACH * figure.se, figure.mean + _REACH * figure.se


def cell(figure: Estimate | None) -> Html:
    """Format a figure with its interval below; bare where it is exact."""
    if figure is None or math.isnan(figure.mean):
        return element("td", MISSING, class_="none", title="Undefined, or not available.")
    ends = interval(figure)
    single = "" if figure.exact else "one observation"
    below = f"{number(ends[0])} \u2026 {number(ends[1])}" if ends else single
    tip = "exact expectation" if figure.exact else f"{figure.n} independent observations"
    return element("td", number(figure.mean), element("small", below) if below else "", title=tip)


def differs(first: Estimate | None, second: Estimate | None) -> bool | None:
    """Return whether two figures differ by more than their errors explain (5 %); None where that is unknown.

    The error of a difference is made of the ends of both intervals that face each other, so that a rate of 0 or 1 has
    one, too (Newcombe 1998, Zou and Donner 2008).
    """
    if first is None or second is None or math.isnan(first.mean) or math.isnan(second.mean):
        return None
    lower, higher = sorted((first, second), key=lambda figure: figure.mean)
    ends = _ends(lower), _ends(higher)
    if ends[0] is None or ends[1] is None:
        return None
    reach = math.hypot(ends[0][1], ends[1][0])
    return abs(second.mean - first.mean) > max(1e-9, reach)


def _ends(figure: Estimate) -> tuple[float, float] | None:
    """Return how far the ends of the interval are from the mean; 0 for an exact figure, None where that is unknown."""
    if figure.exact:
        return 0.0, 0.0
    ends, mean = interval(figure), figure.mean
    return None if ends is None else (mean - ends[0], ends[1] - mean)


def mean_with_interval(figures: Sequence[Estimate]) -> Estimate:
    """Average figures whose errors are independent, with the ends of their intervals carried over."""
    mean = math.fsum(figure.mean for figure in figures) / len(figures)
    ends = [end for figure in figures if (end := _ends(figure)) is not None]
    if len(ends) < len(figures):
        return Estimate(mean=mean)
    down, up = (math.hypot(*side) / len(figures) for side in zip(*ends, strict=True))
    se = math.hypot(*(figure.se or 0.0 for figure in figures)) / len(figures)
    return Estimate(mean=mean, se=se, n=sum(figure.n for figure in figures), low=mean - down, high=mean + up)
