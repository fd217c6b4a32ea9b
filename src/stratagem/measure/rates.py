"""Rates with their intervals: Wilson's, for tries that need not be independent."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import TypeVar

from stratagem.measure.statistics import (
    Estimate,
    all_equal,
    differing_share,
    jackknife,
    quotient,
    students_quantile,
    sums_by_cluster,
)

T = TypeVar("T")


def wilson(successes: float, n: float, confidence: float = 0.95) -> Estimate:
    """Estimate a rate with Wilson's interval (Wilson 1927); ties may count one half."""
    if n == 0:
        return Estimate(math.nan, None, 0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return Estimate(share, math.sqrt(share * (1 - share) / n), int(n), max(0.0, centre - half), min(1.0, centre + half))


def rate(
    items: Iterable[T], hits: Callable[[T], float], tries: Callable[[T], float], cluster: Callable[[T], Hashable]
) -> Estimate:
    """Estimate a rate with Wilson's interval for the effective number of tries, by the spread of clusters (Kish 1965).

    The number is lowered by `(t_(n - 1) / t_(k - 1))^2` of n tries in k clusters, since few clusters tell their spread
    badly (Korn and Graubard 1998). Replays of one deal are not independent. Where all deals are hits, or none is, there
    is one try a deal. Where the deals differ less than independent tries would, as the seats of a zero-sum deal do, of
    which one wins what another loses, there are more tries than were made.
    """
    sums = list(sums_by_cluster(items, hits, tries, cluster).values())
    result, clusters, total = jackknife([sums], quotient), len(sums), math.fsum(tried for _, tried in sums)
    share, effective = result.mean, float(clusters)
    if result.se is not None and 0.0 < share < 1.0 and all_equal(result):
        differing = differing_share(clusters)
        return replace(result, low=share * (1.0 - differing), high=share + (1.0 - share) * differing)
    if result.se and not all_equal(result):
        few = min(1.0, students_quantile(total - 1) / students_quantile(clusters - 1)) ** 2
        effective = min(share * (1.0 - share) / result.se**2 * few, total)
        if result.se**2 * total < share * (1.0 - share):
            effective = max(effective, _tries_of_alike(sums, total / clusters))
    return replace(wilson(share * effective, effective), se=result.se, n=clusters)


def _tries_of_alike(sums: Sequence[Sequence[float]], size: float) -> float:
    """Return the effective number of tries in clusters of this mean size that differ little.

    Their own spread is too small where clusters that differ are rare. So it is taken with two more clusters, one of
    hits alone and one without any, as Bonett and Price (2012) do for paired proportions.
    """
    wider = jackknife([[*sums, [size, size], [0.0, size]]], quotient)
    assert wider.se is not None
    return wider.mean * (1.0 - wider.mean) / wider.se**2
