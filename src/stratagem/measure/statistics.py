"""Estimates with their uncertainty: means, intervals, paired differences, and p-values with Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from stratagem.games.base import Json
from stratagem.games.key import Key

T = TypeVar("T")
Array = NDArray[np.float64]
_MOST_COINS = 1_000_000
"""Signs that are held at once: 8 MB, whatever the number of patterns."""
_ROUNDING = 1e-9
"""Share of a sum by which the order of its terms may change it: patterns with equal sums count as equal."""
LEAST_FLIPPED = 6
"""Smallest number of differences whose sign flips can give a p below 5 %: 2 / 2^5 is .0625, 2 / 2^6 is .031."""


@dataclass(frozen=True)
class Estimate:
    """Mean, its standard error, and its number of independent observations."""

    mean: float
    se: float | None = None
    """Standard error; None from a single observation."""
    n: int = 0
    """Number of observations; 0 where the figure is exact."""
    low: float | None = None
    high: float | None = None
    """Upper end of a 95 % interval, where the figure has a better one than mean and standard error."""
    exact: bool = False

    def __str__(self) -> str:
        if self.exact:
            return f"{self.mean:.3f} exact"
        if self.low is not None and self.high is not None:
            return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.mean:.3f} ± {self.se:.3f}" if self.se is not None else f"{self.mean:.3f}"

    def times(self, factor: float) -> Estimate:
        """Convert the figure to another unit."""
        ends = sorted(end * factor for end in (self.low, self.high) if end is not None)
        low, high = ends if len(ends) == 2 else (None, None)
        se = None if self.se is None else self.se * abs(factor)
        return replace(self, mean=self.mean * factor, se=se, low=low, high=high)

    def to_json(self) -> Json:
        """Return every field by name."""
        return asdict(self)


def exactly(value: float) -> Estimate:
    """Make an estimate of a figure that was computed and not sampled."""
    return Estimate(value, se=0.0, exact=True)


def mean(values: Sequence[float]) -> Estimate:
    """Estimate the mean of independent observations, with its standard error."""
    n = len(values)
    if n == 0:
        return Estimate(math.nan, None, 0)
    centre = math.fsum(values) / n
    if n == 1:
        return Estimate(centre, None, 1)
    variance = math.fsum((value - centre) ** 2 for value in values) / (n - 1)
    return Estimate(centre, math.sqrt(variance / n), n)


def clustered_mean(items: Iterable[T], value: Callable[[T], float], cluster: Callable[[T], Hashable]) -> Estimate:
    """Estimate the mean over clusters of their means: episodes that replay one deal are one observation."""
    groups: dict[Hashable, list[float]] = {}
    for item in items:
        groups.setdefault(cluster(item), []).append(value(item))
    return mean([math.fsum(group) / len(group) for group in groups.values()])


def students(estimate: Estimate) -> Estimate:
    """Add the 95 % interval by Student's t; none where the figure is exact, or rests on one observation."""
    if estimate.exact or estimate.se is None or estimate.n < 2:
        return estimate
    reach = students_quantile(estimate.n - 1) * estimate.se
    return replace(estimate, low=estimate.mean - reach, high=estimate.mean + reach)


def with_interval(values: Sequence[float]) -> Estimate:
    """Estimate the mean of independent values with its interval by Student's t."""
    return students(mean(values))


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """Average independent estimates without weights, with their errors carried over."""
    if not estimates:
        return Estimate(math.nan, None, 0)
    centre = math.fsum(estimate.mean for estimate in estimates) / len(estimates)
    if all(estimate.exact for estimate in estimates):
        return exactly(centre)
    errors = [estimate.se for estimate in estimates if estimate.se is not None]
    se = math.sqrt(math.fsum(error**2 for error in errors)) / len(estimates) if len(errors) == len(estimates) else None
    return Estimate(centre, se, sum(estimate.n for estimate in estimates))


def students_quantile(freedom: float) -> float:
    """Return Student's quantile of a two-sided 95 % interval, with at least one degree of freedom."""
    from scipy.special import stdtrit  # `scipy.stats` takes ten times as long to import

    return float(stdtrit(max(1.0, freedom), 0.975))


def differing_share(n: int) -> float:
    """Return the largest share of others that may differ where n observations are equal, at 95 %.

    It is `1 - .025^(1/n)` (Clopper and Pearson 1934).
    """
    return 1.0 - math.pow(0.025, 1.0 / n)


@dataclass(frozen=True)
class Difference:
    """Paired difference: its estimate, its p-value, and the difference that the sample can detect."""

    estimate: Estimate
    p_value: float
    """Two-sided p of the sign-flip test over deals, before any correction."""
    detectable: float
    """Smallest true difference that a test at 5 % would find four times in five with this sample.

    It is NaN with fewer than six deals, which can find none, and where all deals differ alike, which tells no spread.
    """

    def to_json(self) -> Json:
        """Return every field by name."""
        return asdict(self)


def paired_difference(first: Sequence[float], second: Sequence[float], key: Key, rounds: int = 10_000) -> Difference:
    """Compare two players on the same deals by flipping the signs of their differences (Fisher's permutation test)."""
    differences = np.subtract(first, second)
    estimate = mean([float(value) for value in differences])
    return Difference(estimate, sign_flip_p(differences, key, rounds), detectable(estimate))


def detectable(
    estimate: Estimate, freedom: float | None = None, level: float = 0.05, least: int = LEAST_FLIPPED
) -> float:
    """Compute the smallest true mean that a test at a level would find four times in five with this standard error.

    NaN where so few observations can show no p below 5 % by sign flips, and where equal ones do not tell the variance.
    """
    if estimate.se is None or estimate.n < least or all_equal(estimate):
        return math.nan
    return power_quantile(estimate.n - 1 if freedom is None else freedom, level) * estimate.se


def power_quantile(freedom: float, level: float = 0.05) -> float:
    """Return the number of standard errors that a two-sided test at a level finds four times in five."""
    from scipy.special import stdtrit  # Student's quantile

    return float(stdtrit(freedom, 1.0 - level / 2.0) + stdtrit(freedom, 0.8))


def times_as_many(estimate: Estimate, difference: float, freedom: float | None = None, level: float = 0.05) -> float:
    """Return how many times as many observations would find a true mean of this size four times in five.

    The standard error falls with the root of their number, and the degrees of freedom rise with it. NaN as in
    `detectable`.
    """
    if math.isnan(detectable(estimate, freedom, level)) or estimate.se is None:
        return math.nan
    known = estimate.n - 1 if freedom is None else freedom
    errors = power_quantile(known, level) * estimate.se / difference
    for _ in range(50):  # a fixed point: the quantile falls slowly in the degrees of freedom
        factor = errors * errors  # infinite where its power of two would raise
        errors = power_quantile(max(1.0, known * factor), level) * estimate.se / difference
    return errors * errors


def sign_flip_p(differences: Sequence[float] | Array, key: Key, rounds: int = 10_000) -> float:
    """Compute the two-sided p of the sign-flip test (Fisher 1935).

    It is the share of sign patterns whose sum is at least as large in size. Exact where there are no more than
    `rounds` patterns, so that n differences give no p below `2 / 2^n`. Else `(found + 1) / (rounds + 1)` over as
    many patterns, drawn by the key (Phipson and Smyth 2010). NaN where a difference is no finite number.
    """
    values = np.asarray(differences, dtype=float)
    if not np.isfinite(values).all():
        return math.nan
    least = abs(float(values.sum())) - _ROUNDING * float(np.abs(values).sum())
    exact = 2 ** len(values) <= rounds
    patterns = _every_sign(len(values)) if exact else _drawn_signs(len(values), key, rounds)
    result = sum(int((np.abs(signs @ values) >= least).sum()) for signs in patterns)
    return float(result / 2 ** len(values)) if exact else (result + 1) / (rounds + 1)


def _every_sign(size: int) -> Iterator[Array]:
    """Yield all sign patterns, a bounded number of signs at a time."""
    for start, end in _parts(2**size, size):
        yield np.where(np.arange(start, end)[:, None] >> np.arange(size) & 1, 1.0, -1.0)


def _drawn_signs(size: int, key: Key, rounds: int) -> Iterator[Array]:
    """Draw sign patterns of fair coins, a bounded number of coins at a time."""
    generator = np.random.default_rng(key.value)
    for start, end in _parts(rounds, size):
        yield np.where(generator.integers(0, 2, size=(end - start, size), dtype=np.int8), 1.0, -1.0)


def _parts(patterns: int, size: int) -> Iterator[tuple[int, int]]:
    at_once = max(1, _MOST_COINS // max(1, size))
    for start in range(0, patterns, at_once):
        yield start, min(start + at_once, patterns)


def students_p(estimate: Estimate) -> float | None:
    """Compute the two-sided p of Student's t-test that the mean is 0.

    None if the figure is exact or from one observation. Equal observations do not tell the variance, so their p is that
    of sign flips, `2 / 2^n`: two equal seeds show nothing.
    """
    if estimate.exact or estimate.se is None or estimate.n < 2:
        return None
    if all_equal(estimate):
        return 1.0 if estimate.mean == 0.0 else 2.0 ** (1 - estimate.n)
    from scipy.special import stdtr  # Student's distribution function

    return float(2.0 * stdtr(estimate.n - 1, -abs(estimate.mean) / estimate.se))


def all_equal(estimate: Estimate) -> bool:
    """Return whether the observations are equal up to rounding, so that they do not tell the variance."""
    return estimate.se is not None and estimate.se <= _ROUNDING * abs(estimate.mean)


def holm(p_values: Sequence[float]) -> list[float]:
    """Compute Holm's step-down adjusted p, in the order given: `max_{j <= i} min(1, (m - j + 1) p_(j))` (Holm 1979).

    Rejecting those at most alpha bounds the chance of any false rejection by alpha, however the tests depend.
    """
    if not all(0.0 <= p <= 1.0 for p in p_values):
        raise ValueError(f"A p-value lies between 0 and 1: {list(p_values)}")
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, most = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        most = max(most, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = most
    return adjusted


def jackknife(strata: Sequence[Sequence[Sequence[float]]], figure: Callable[[Array], float]) -> Estimate:
    """Estimate a function of sums, with the error of leaving out one row at a time (jackknife, Tukey 1958).

    A row is one independent observation, its columns are summed by stratum, and `figure` takes those sums, a row each.
    Where one row is left out, the others of its stratum are weighted up to stand for it. There is no error where the
    figure is not defined without some row, as a rate of attacks without the only deal that had any.
    """
    tables = [np.asarray(rows, dtype=float) for rows in strata]
    totals = np.array([table.sum(axis=0) for table in tables])
    whole, n = float(figure(totals)), sum(map(len, tables))
    if min(map(len, tables)) < 2:
        return Estimate(whole, None, n)
    variance = 0.0
    for index, table in enumerate(tables):
        size, left_out, sums = len(table), [], totals.copy()
        for rest in (totals[index] - table) * (size / (size - 1)):
            sums[index] = rest
            with np.errstate(divide="ignore", invalid="ignore"):
                left_out.append(float(figure(sums)))
        if not all(map(math.isfinite, left_out)):
            return Estimate(whole, None, n)
        centre = math.fsum(left_out) / size
        variance += (size - 1) / size * math.fsum((value - centre) ** 2 for value in left_out)
    return Estimate(whole, math.sqrt(variance), n)


def ratio(
    items: Iterable[T], total: Callable[[T], float], count: Callable[[T], float], cluster: Callable[[T], Hashable]
) -> Estimate:
    """Estimate a sum of totals over a sum of counts, such as payoff a round.

    Episodes that replay one deal are one observation.
    """
    return jackknife([list(sums_by_cluster(items, total, count, cluster).values())], quotient)


def sums_by_cluster(
    items: Iterable[T], total: Callable[[T], float], count: Callable[[T], float], cluster: Callable[[T], Hashable]
) -> dict[Hashable, list[float]]:
    """Return the sums of totals and of counts by cluster."""
    sums: dict[Hashable, list[float]] = {}
    for item in items:
        row = sums.setdefault(cluster(item), [0.0, 0.0])
        row[0] += total(item)
        row[1] += count(item)
    return sums


def quotient(totals: Array) -> float:
    """Return the first total over the second."""
    return float(totals[0, 0] / totals[0, 1])
