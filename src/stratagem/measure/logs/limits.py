"""Limits of a mean difference over items that lie in clusters, for skewed scores and for right or wrong.

The standard error is the cluster-robust one of Bell and McCaffrey (2002), CR2, of a mean: with `s_g` the sum of the
residuals of cluster g and `n_g` its items, `V = sum_g s_g^2 / (1 - n_g / n) / n^2`. Student's quantile has their
degrees of freedom, `tr(M)^2 / tr(M^2)` for the covariance M of the weighted sums, with the correlation inside of
clusters that the items show (Imbens and Kolesár 2016), and fewer where the sums have heavy tails (Box 1953). Every item
is its own cluster where none are named: then it is Student's interval.

Where scores are right or wrong the interval ends there; without clusters it is that of Agresti and Min (2005), half a
pair added to each of the four outcomes, since few pairs differ. Other differences may be skewed: each limit is the
wider one of Student's and of Hall's (1992) monotone transformation of t, since the first misses on one side with few
items and the second on the other. `experiments/log_coverage.py` simulates all.

The p of a difference of 0 goes with these limits: sign flips take two systems with equal means
and other spreads for different ones (the experiment has their errors, too).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stratagem.measure.statistics import Array

Outcomes = Literal["binary", "sparse", "skewed"]
"""Kinds of differences: right or wrong, right or wrong with few that differ, and any others."""
_SPARSE = 0.2
"""Share of items with a difference below which right or wrong counts as sparse."""
_SMALL = 1e-12


@dataclass(frozen=True)
class MeanLimits:
    """Mean differences of one sample or of many, with their errors and limits."""

    mean: Array
    se: Array
    freedom: Array
    """Degrees of freedom of the standard error."""
    low: Array
    high: Array
    p: Array
    """Two-sided p of a mean of 0, by the same transformation of t as the limits; NaN where nothing varies."""


def mean_limits(differences: Array, clusters: NDArray[np.intp] | None = None, level: float = 0.05) -> MeanLimits:
    """Return the mean over the last axis with two-sided limits; `clusters` numbers the cluster of each item."""
    n = differences.shape[-1]
    if n < 2:
        raise ValueError("A mean of one item has no limits.")
    binary = is_binary(differences)
    unit = 1.0 if binary else _power_of_two(differences)  # else squares of large or small scores leave the numbers
    differences = differences / unit
    sizes, sums, inside = _cluster_sums(differences, clusters)
    mean = differences.mean(axis=-1)
    weights = 1.0 / np.maximum(1.0 - sizes / n, _SMALL)
    se = np.sqrt((sums**2 * weights).sum(axis=-1)) / n
    correlation = _correlation(sums, sizes, inside)
    variances = sizes + correlation[..., None] * sizes * (sizes - 1.0)
    freedom = _freedom(sizes, variances, weights, n)
    scaled = sums * np.sqrt(weights / variances)
    freedom = _with_tails(freedom, scaled)
    reach = _quantile(freedom, level)
    t = np.divide(mean, se, out=np.full_like(mean, np.nan), where=se > 0.0)
    if not binary:
        slope = _slope(scaled)
        low = mean - np.maximum(_inverse(reach, slope), reach) * se
        high = mean - np.minimum(_inverse(-reach, slope), -reach) * se
        skewed = t + slope * t**2 + slope**2 * t**3 / 3.0 + slope / 2.0
        t = np.where(np.sign(skewed) == np.sign(t), np.sign(t) * np.minimum(np.abs(t), np.abs(skewed)), 0.0)
    elif len(sizes) == n:
        low, high = _agresti_min(differences, level)
    else:
        low, high = mean - reach * se, mean + reach * se
    return MeanLimits(mean * unit, se * unit, freedom, low * unit, high * unit, _two_sided(t, freedom))


def _power_of_two(values: Array) -> float:
    """Return a power of two near the largest size: to divide by it changes no digit."""
    return float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1])))


def is_binary(differences: Array) -> bool:
    """Return whether all differences are -1, 0 or 1, as where answers are right or wrong."""
    return bool(np.isin(differences, (-1.0, 0.0, 1.0)).all())


def outcomes_of(differences: Array) -> Outcomes:
    """Return the kind of differences."""
    if not is_binary(differences):
        return "skewed"
    return "sparse" if np.count_nonzero(differences) < _SPARSE * differences.size else "binary"


def _cluster_sums(differences: Array, clusters: NDArray[np.intp] | None) -> tuple[Array, Array, Array]:
    """Return the sizes of clusters, the sums of their residuals, and the sum of squares of all residuals."""
    residuals = differences - differences.mean(axis=-1, keepdims=True)
    squares = (residuals**2).sum(axis=-1)
    if clusters is None:
        return np.ones(differences.shape[-1]), residuals, squares
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    sizes = np.diff(starts, append=len(clusters)).astype(float)
    return sizes, np.add.reduceat(residuals[..., order], starts, axis=-1), squares


def _correlation(sums: Array, sizes: Array, squares: Array) -> Array:
    """Return the correlation of items of one cluster by the analysis of variance, at least 0."""
    groups, n = len(sizes), sizes.sum()
    if groups == n or groups < 2:
        return np.zeros_like(squares)
    between = (sums**2 / sizes).sum(axis=-1)
    of_groups, of_items = between / (groups - 1), (squares - between) / (n - groups)
    size = (n - (sizes**2).sum() / n) / (groups - 1)
    total = np.maximum(of_groups + (size - 1.0) * of_items, _SMALL)
    correlation: Array = np.clip((of_groups - of_items) / total, 0.0, 1.0)
    return correlation


def _freedom(sizes: Array, variances: Array, weights: Array, n: int) -> Array:
    """Return `tr(M)^2 / tr(M^2)`, where M is the covariance of residual sums times their weights.

    An entry is `c_g - 2 p_g c_g + p_g^2 C` on the diagonal and `p_g p_h C - p_g c_h - p_h c_g` elsewhere, with
    p = sizes / n, c = variances, and C their sum: so both traces are sums over clusters.
    """
    shares, total = sizes / n, variances.sum(axis=-1)
    diagonal = variances - 2.0 * shares * variances + shares**2 * total[..., None]
    itself = 2.0 * shares * variances - shares**2 * total[..., None]
    of_shares = (weights * shares**2).sum()
    of_variances, mixed = (weights * variances**2).sum(axis=-1), (weights * shares * variances).sum(axis=-1)
    others = (
        2.0 * of_shares * of_variances
        + (of_shares * total) ** 2
        + 2.0 * mixed**2
        - 4.0 * total * of_shares * mixed
        - (weights**2 * itself**2).sum(axis=-1)
    )
    trace = (weights * diagonal).sum(axis=-1)
    freedom: Array = trace**2 / ((weights**2 * diagonal**2).sum(axis=-1) + others)
    return freedom


def _with_tails(freedom: Array, scaled: Array) -> Array:
    """Return the degrees of freedom that a sum of squares has at the kurtosis of the sums, at least 1."""
    second, fourth = (scaled**2).mean(axis=-1), (scaled**4).mean(axis=-1)
    excess = np.where(second > 0.0, fourth / np.maximum(second, _SMALL**2) ** 2 - 3.0, 0.0)
    tails = 2.0 / (2.0 / freedom + np.maximum(excess, 0.0) / scaled.shape[-1])
    fewest: Array = np.maximum(1.0, tails)
    return fewest


def _quantile(freedom: Array, level: float) -> Array:
    from scipy.special import stdtrit  # `scipy.stats` takes ten times as long to import

    quantile: Array = stdtrit(freedom, 1.0 - level / 2.0)
    return quantile


def _two_sided(t: Array, freedom: Array) -> Array:
    from scipy.special import stdtr  # Student's distribution function

    p: Array = 2.0 * stdtr(freedom, -np.abs(t))
    return p


def _slope(scaled: Array) -> Array:
    """Return a = skewness / (3 sqrt(groups)): `g(t) = t + a t^2 + a^2 t^3 / 3 + a / 2` is nearly symmetric."""
    second = np.maximum((scaled**2).mean(axis=-1), _SMALL**2)
    slope: Array = (scaled**3).mean(axis=-1) / second**1.5 / (3.0 * np.sqrt(scaled.shape[-1]))
    return np.where(np.abs(slope) < 1e-8, 1e-8, slope)


def _inverse(value: Array, slope: Array) -> Array:
    """Return the t at which g has a value: `(cbrt(1 + 3 a (y - a / 2)) - 1) / a`."""
    found: Array = (np.cbrt(1.0 + 3.0 * slope * (value - slope / 2.0)) - 1.0) / slope
    return found


def _agresti_min(differences: Array, level: float) -> tuple[Any, Any]:
    """Return the limits of a difference of paired proportions, half a pair added to each of the four outcomes."""
    from scipy.special import ndtri  # the normal quantile

    n = differences.shape[-1] + 2.0
    won, lost = ((differences == sign).sum(axis=-1) + 0.5 for sign in (1.0, -1.0))
    middle = (won - lost) / n
    reach = float(ndtri(1.0 - level / 2.0)) * np.sqrt(((won + lost) / n - middle**2) / n)
    return np.maximum(middle - reach, -1.0), np.minimum(middle + reach, 1.0)
