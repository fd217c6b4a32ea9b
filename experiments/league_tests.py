"""Paired differences between ways to train, seed by seed: intervals, p-values, and Holm's p in declared families.

A family is every pair of a game's ways by one figure. Intervals and p-values are those of Student's t over the seeds
that both ways have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from stratagem.evaluation.family import Family
from stratagem.evaluation.statistics import Estimate, students_p, with_interval
from stratagem.runs.metrics import Curve

Ways = Mapping[str, Mapping[int, Curve]]
FIGURES = ("last", "second half")
NAMES = {
    "self": "self-play",
    "held": "held",
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
    """Every two ways by the name of what the later has more than the sooner."""
    return {f"{one} less {other}": (one, other) for other, one in combinations(ways, 2)}


def gaps(one: Mapping[int, Curve], other: Mapping[int, Curve], figure: str) -> dict[int, float]:
    """Return the differences of two ways to train in every common seed."""
    return {seed: figures(one[seed])[figure] - figures(other[seed])[figure] for seed in sorted(one.keys() & other)}


def differences(ways: Ways, declared: Sequence[str]) -> dict[str, dict[str, Any]]:
    """By pair the seeds, and by figure the mean with its interval, p, and Holm's p over all pairs declared."""
    rows: dict[str, dict[str, Any]] = {}
    for name, (one, other) in pairs(declared).items():
        if one in ways and other in ways:
            rows[name] = {"seeds": sorted(ways[one].keys() & ways[other].keys())}
    for figure in FIGURES:
        told = {name: _gap(ways, *pairs(declared)[name], figure) for name in rows}
        adjusted = Family(f"every pair by {figure}", tuple(pairs(declared))).holm(
            {name: students_p(gap) for name, gap in told.items()}
        )
        for name, gap in told.items():
            found = {"mean": gap.mean, "low": gap.low, "high": gap.high}
            rows[name][figure] = {**found, "p": students_p(gap), "holm_p": adjusted.get(name)}
    return rows


def _gap(ways: Ways, one: str, other: str, figure: str) -> Estimate:
    return with_interval(list(gaps(ways[one], ways[other], figure).values()))


def markdown(game: str, of_last: Mapping[str, Any], of_average: Mapping[str, Any], digits: int) -> Iterator[str]:
    """Every pair of a game in Markdown: at the end, over the second half, and of the average policy at the end."""
    heads = ["at the end", "mean of the second half", "average at the end"]
    columns = "".join(f" {head} | p | Holm p |" for head in heads)
    yield f"| {game}, {len(of_last)} pairs |{columns}"
    yield "| --- |" + " --- |" * 9
    for name, row in of_last.items():
        one, other = name.split(" less ")
        parts = [row["last"], row["second half"], of_average.get(name, {}).get("last")]
        cells = [cell for part in parts for cell in _cells(part, digits)]
        yield f"| {NAMES[one]} less {NAMES[other]} | {' | '.join(cells)} |"


def _cells(part: Mapping[str, Any] | None, digits: int) -> list[str]:
    """A difference with its interval, p, and Holm's p; dashes where nothing can be said."""
    if part is None or part["p"] is None:
        return ["\u2013"] * 3
    low, mean, high = (f"{part[key]:.{digits}f}" for key in ("low", "mean", "high"))
    return [f"{mean} [{low}, {high}]", f"{part['p']:.4f}", f"{part['holm_p']:.3f}"]
