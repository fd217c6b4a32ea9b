"""Paired differences between ways to train, seed by seed: intervals, p-values, and Holm's p in declared families.

A family is every pair of a game's ways by one figure. Intervals and p-values are those of Student's t over the seeds
that both ways have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from result_tables import DASH, markdown

from stratagem.measure.comparisons import Family
from stratagem.sweeps.comparison import PairedTest, pair_seeds, paired_tests, students
from stratagem.training.runs.metrics import Curve

Ways = Mapping[str, Mapping[int, Curve]]
FIGURES = ("last", "second half")
NAMES = {
    "self": "self-play",
    "held": "held",
    "slow": "a tenth of the learning rate",
    "fixed": "fixed opponent",
    "pfsp": "past by losses",
    "near": "past by ratings",
    "league": "league",
}
"""Names of the ways to train in tables."""


def figures(curve: Curve) -> dict[str, float]:
    """The last value, and the mean over the second half."""
    half = curve.values[len(curve.values) // 2 :]
    return {"last": curve.values[-1], "second half": math.fsum(half) / len(half)}


def pairs(ways: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return every two ways by the name of the later less the sooner."""
    return {f"{later} less {sooner}": (later, sooner) for sooner, later in combinations(ways, 2)}


def gaps(first: Mapping[int, Curve], second: Mapping[int, Curve], figure: str) -> dict[int, float]:
    """Return the differences of two ways to train in every common seed."""
    own, other = ({seed: figures(curve)[figure] for seed, curve in curves.items()} for curves in (first, second))
    return pair_seeds(own, other)


def differences(ways: Ways, declared: Sequence[str]) -> dict[str, dict[str, Any]]:
    """By pair the seeds, and by figure the mean with its interval, p, and Holm's p over all pairs declared."""
    known = {name: pair for name, pair in pairs(declared).items() if set(pair) <= ways.keys()}
    rows: dict[str, dict[str, Any]] = {
        name: {"seeds": sorted(ways[first].keys() & ways[second].keys())} for name, (first, second) in known.items()
    }
    for figure in FIGURES:
        family = Family(f"every pair by {figure}", tuple(pairs(declared)))
        values = {name: gaps(ways[first], ways[second], figure) for name, (first, second) in known.items()}
        for name, test in paired_tests(family, values, students).items():
            rows[name][figure] = summary(test)
    return rows


def summary(test: PairedTest) -> dict[str, float | None]:
    """Return the mean of a difference with its interval, p, and Holm's p."""
    gap = test.estimate
    return {"mean": gap.mean, "low": gap.low, "high": gap.high, "p": test.p, "holm_p": test.holm_p}


def table(game: str, of_last: Mapping[str, Any], of_average: Mapping[str, Any], digits: int) -> str:
    """Format every pair of a game: at the end, over the second half, and of the average policy at the end."""
    heads = [f"{game}, {len(of_last)} pairs"]
    for head in ("at the end", "mean of the second half", "average at the end"):
        heads += [head, "p", "Holm p"]
    return markdown(heads, (_row(name, row, of_average.get(name, {}), digits) for name, row in of_last.items()))


def _row(name: str, of_last: Mapping[str, Any], of_average: Mapping[str, Any], digits: int) -> list[str]:
    first, second = name.split(" less ")
    parts = [of_last["last"], of_last["second half"], of_average.get("last")]
    return [f"{NAMES[first]} less {NAMES[second]}", *(cell for part in parts for cell in _cells(part, digits))]


def _cells(part: Mapping[str, Any] | None, digits: int) -> list[str]:
    """Format a difference with its interval, p, and Holm's p; dashes where nothing can be said."""
    if part is None or part["p"] is None:
        return [DASH] * 3
    low, mean, high = (f"{part[key]:.{digits}f}" for key in ("low", "mean", "high"))
    return [f"{mean} [{low}, {high}]", f"{part['p']:.4f}", f"{part['holm_p']:.3f}"]
