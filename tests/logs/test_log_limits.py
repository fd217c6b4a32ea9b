"""Limits of mean differences against matrices, formulas and scipy."""

import numpy as np
import pytest
from scipy import stats

from stratagem.measure.logs.limits import mean_limits, outcomes_of
from stratagem.measure.statistics import Estimate, detectable, power_quantile, times_as_many

RNG = np.random.default_rng(5)


def by_matrix(values, clusters):
    """CR2 and its degrees of freedom by projections, as Bell and McCaffrey define them, with one correlation."""
    n, groups = len(values), int(clusters.max()) + 1
    ones = np.ones((n, 1))
    residual = np.eye(n) - ones @ ones.T / n
    e = residual @ values
    sums, sizes = np.bincount(clusters, e), np.bincount(clusters)
    between = (sums**2 / sizes).sum()
    of_groups, of_items = between / (groups - 1), (e @ e - between) / (n - groups)
    size = (n - (sizes**2).sum() / n) / (groups - 1)
    rho = np.clip((of_groups - of_items) / (of_groups + (size - 1) * of_items), 0, 1)
    omega = np.where(clusters[:, None] == clusters[None, :], rho, 0.0)
    np.fill_diagonal(omega, 1.0)
    rows, variance = [], 0.0
    for group in range(groups):
        own = clusters == group
        values_of, vectors = np.linalg.eigh(residual[np.ix_(own, own)])
        root = vectors @ np.diag(np.where(values_of > 1e-12, values_of, np.inf) ** -0.5) @ vectors.T
        row = np.ones(own.sum()) @ root @ residual[own] / n
        rows.append(row)
        variance += (np.ones(own.sum()) @ root @ e[own] / n) ** 2
    m = np.array(rows) @ omega @ np.array(rows).T
    return np.sqrt(variance), np.trace(m) ** 2 / np.trace(m @ m), e, sizes, rho


@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_error_and_freedom_are_those_of_bell_and_mccaffrey(effect):
    clusters = np.repeat(np.arange(6), [3, 9, 2, 14, 5, 7])
    values = RNG.normal(size=40) + effect * RNG.normal(size=6)[clusters]
    se, freedom, e, sizes, rho = by_matrix(values, clusters)
    found = mean_limits(values, clusters)
    assert found.se == pytest.approx(se)
    scaled = np.bincount(clusters, e) / np.sqrt((1 - sizes / 40) * (sizes + rho * sizes * (sizes - 1)))
    excess = max(0.0, (scaled**4).mean() / (scaled**2).mean() ** 2 - 3.0)
    assert found.freedom == pytest.approx(max(1.0, 2.0 / (2.0 / freedom + excess / 6)))


def test_equal_clusters_have_one_degree_of_freedom_less_than_clusters():
    clusters = np.repeat(np.arange(8), 5)
    signs = np.tile([1.0, -1.0], 4)[clusters] * 0.3 + RNG.uniform(-1, 1, 40)
    assert mean_limits(signs, clusters).freedom == pytest.approx(7.0)


def test_numbers_of_clusters_may_stand_in_any_order():
    values, clusters = RNG.normal(size=30), RNG.permutation(np.repeat(np.arange(5), 6))
    order = np.argsort(clusters)
    one, other = mean_limits(values, clusters), mean_limits(values[order], clusters[order])
    assert (one.low, one.high, one.p) == pytest.approx((other.low, other.high, other.p))


def test_without_clusters_and_skew_it_is_students_interval():
    half = RNG.uniform(0.1, 1.0, 20)
    values = np.concatenate([half, -half]) + 0.2
    known = stats.ttest_1samp(values, 0.0)
    found = mean_limits(values)
    assert (found.low, found.high) == pytest.approx(tuple(known.confidence_interval()), rel=1e-6)
    assert found.p == pytest.approx(known.pvalue, rel=1e-6)


def test_skewed_differences_have_the_wider_limit_on_each_side():
    values = RNG.exponential(1.0, 25)
    found, mean, n = mean_limits(values), values.mean(), 25
    z = values - mean
    excess = max(0.0, (z**4).mean() / (z**2).mean() ** 2 - 3.0)
    freedom = 2.0 / (2.0 / (n - 1) + excess / n)
    reach, se = stats.t.ppf(0.975, freedom), values.std(ddof=1) / np.sqrt(n)
    skew = (z**3).mean() / (z**2).mean() ** 1.5 / np.sqrt(n)

    def hall(y):
        return 3.0 / skew * (np.cbrt(1.0 + skew * (y - skew / 6.0)) - 1.0)

    assert found.low == pytest.approx(mean - max(hall(reach), reach) * se)
    assert found.high == pytest.approx(mean - min(hall(-reach), -reach) * se)
    assert found.high - mean > mean - found.low, "the long tail is at the top"


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_p_is_the_level_whose_limit_is_zero(level):
    values = RNG.exponential(1.0, 30) - 0.9
    for shift in (0.5, -0.5):
        p = float(mean_limits(values + shift).p)
        at = mean_limits(values + shift, level=p)
        assert min(abs(float(at.low)), abs(float(at.high))) < 1e-9
    assert (mean_limits(values, level=level).low > 0) == (float(mean_limits(values).p) < level and values.mean() > 0)


@pytest.mark.parametrize(("won", "lost", "n"), [(0, 0, 30), (7, 2, 40), (25, 5, 30)])
def test_right_or_wrong_has_the_interval_of_agresti_and_min(won, lost, n):
    values = np.array([1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost))
    first, second, total = won + 0.5, lost + 0.5, n + 2.0
    middle = (first - second) / total
    reach = 1.959964 * np.sqrt((first + second - (first - second) ** 2 / total) / total**2)
    found = mean_limits(values)
    assert (found.low, found.high) == pytest.approx((middle - reach, middle + reach), rel=1e-6)


def test_many_samples_have_the_limits_of_each():
    values, clusters = RNG.exponential(size=(4, 3, 20)), np.repeat(np.arange(5), 4)
    together = mean_limits(values, clusters)
    for place in np.ndindex(4, 3):
        one = mean_limits(values[place], clusters)
        for name in ("mean", "se", "freedom", "low", "high", "p"):
            assert getattr(together, name)[place] == pytest.approx(getattr(one, name))


def test_kinds_of_differences():
    assert outcomes_of(np.array([1.0, 0.0, -1.0])) == "binary"
    assert outcomes_of(np.array([1.0] + [0.0] * 9)) == "sparse"
    assert outcomes_of(np.array([0.5, 0.0])) == "skewed"


def test_more_items_show_what_they_were_asked_for():
    estimate = Estimate(0.1, 0.05, 50)
    factor = times_as_many(estimate, 0.05, 49.0)
    n, freedom = factor * 50, factor * 49.0
    assert power_quantile(freedom) * 0.05 * np.sqrt(50 / n) == pytest.approx(0.05)
    assert factor < (detectable(estimate) / 0.05) ** 2, "the quantile falls with more items"
    assert np.isnan(times_as_many(Estimate(0.1, 0.0, 50), 0.05))
    assert detectable(estimate, level=0.01) > detectable(estimate)


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-40, 2.0**300])
def test_limits_have_the_unit_of_the_scores(unit):
    rng = np.random.default_rng(4)
    clusters = np.arange(60) // 4
    differences = rng.exponential(1.0, 60) - 1.0 + rng.normal(size=15)[clusters]
    plain, other = mean_limits(differences, clusters), mean_limits(differences * unit, clusters)
    assert (other.freedom, other.p) == (plain.freedom, plain.p)
    assert (other.mean / unit, other.se / unit) == (plain.mean, plain.se)
    assert (other.low / unit, other.high / unit) == (plain.low, plain.high)
