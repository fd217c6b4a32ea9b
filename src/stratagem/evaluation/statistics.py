"""Numbers with their uncertainty: means, Wilson intervals, and the paired difference between two players."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from stratagem.games.base import Json
from stratagem.games.key import Key

T = TypeVar("T")


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard error, and how many independent observations it rests on."""

    mean: float
    se: float | None = None
    """None where a single observation says nothing about the spread."""
    n: int = 0
    """0 where the figure is exact."""
    low: float | None = None
    high: float | None = None
    """A 95 % interval, where the figure has a better one than mean and standard error."""
    exact: bool = False

    def __str__(self) -> str:
        if self.exact:
            return f"{self.mean:.3f} exact"
        if self.low is not None and self.high is not None:
            return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.mean:.3f} ± {self.se:.3f}" if self.se is not None else f"{self.mean:.3f}"

    def times(self, factor: float) -> Estimate:
        """The same figure in another unit."""
        ends = sorted(end * factor for end in (self.low, self.high) if end is not None)
        low, high = ends if len(ends) == 2 else (None, None)
        se = None if self.se is None else self.se * abs(factor)
        return replace(self, mean=self.mean * factor, se=se, low=low, high=high)

    def to_json(self) -> Json:
        """Every field by name."""
        return asdict(self)


def exactly(value: float) -> Estimate:
    """A figure that was computed and not sampled."""
    return Estimate(value, se=0.0, exact=True)


def mean(values: Sequence[float]) -> Estimate:
    """The mean of independent observations, with its standard error."""
    n = len(values)
    if n == 0:
        return Estimate(math.nan, None, 0)
    centre = math.fsum(values) / n
    if n == 1:
        return Estimate(centre, None, 1)
    variance = math.fsum((value - centre) ** 2 for value in values) / (n - 1)
    return Estimate(centre, math.sqrt(variance / n), n)


def clustered(items: Iterable[T], value: Callable[[T], float], cluster: Callable[[T], Hashable]) -> Estimate:
    """The mean over clusters of their means: episodes that replay one deal are one observation."""
    groups: dict[Hashable, list[float]] = {}
    for item in items:
        groups.setdefault(cluster(item), []).append(value(item))
    return mean([math.fsum(group) / len(group) for group in groups.values()])


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """The unweighted mean of independent estimates, with their errors carried over."""
    if not estimates:
        return Estimate(math.nan, None, 0)
    centre = math.fsum(estimate.mean for estimate in estimates) / len(estimates)
    if all(estimate.exact for estimate in estimates):
        return exactly(centre)
    errors = [estimate.se for estimate in estimates if estimate.se is not None]
    se = math.sqrt(math.fsum(error**2 for error in errors)) / len(estimates) if len(errors) == len(estimates) else None
    return Estimate(centre, se, sum(estimate.n for estimate in estimates))


def wilson(successes: float, n: int, confidence: float = 0.95) -> Estimate:
    """A rate with Wilson's interval (Wilson 1927); ties may count one half."""
    if n == 0:
        return Estimate(math.nan, None, 0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = successes / n
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return Estimate(rate, math.sqrt(rate * (1 - rate) / n), n, max(0.0, centre - half), min(1.0, centre + half))


@dataclass(frozen=True)
class Difference:
    """A paired difference: its estimate, how likely one as large is by chance, and what the sample could have seen."""

    estimate: Estimate
    p_value: float
    detectable: float
    """The smallest true difference that a test at 5 % would find four times in five with this sample."""

    def to_json(self) -> Json:
        """Every field by name."""
        return asdict(self)


def paired_difference(first: Sequence[float], second: Sequence[float], key: Key, rounds: int = 10_000) -> Difference:
    """Compare two players on the same deals by flipping the signs of their differences (Fisher's permutation test)."""
    differences = np.subtract(first, second)
    estimate = mean([float(value) for value in differences])
    observed = abs(float(differences.sum()))
    generator = np.random.default_rng(key.value)
    signs = generator.integers(0, 2, size=(rounds, len(differences)), dtype=np.int8) * 2 - 1
    as_large = int((np.abs(signs @ differences) >= observed - 1e-12).sum())
    power = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    detectable = math.nan if estimate.se is None else power * estimate.se
    return Difference(estimate, (as_large + 1) / (rounds + 1), detectable)


def jackknife(clusters: Sequence[T], figure: Callable[[Sequence[T]], float]) -> Estimate:
    """A figure that is no mean, with the error found by leaving out one independent cluster at a time (Tukey 1958)."""
    n = len(clusters)
    whole = figure(clusters)
    if n < 2:
        return Estimate(whole, None, n)
    left_out = [figure([*clusters[:index], *clusters[index + 1 :]]) for index in range(n)]
    centre = math.fsum(left_out) / n
    return Estimate(whole, math.sqrt((n - 1) / n * math.fsum((value - centre) ** 2 for value in left_out)), n)
