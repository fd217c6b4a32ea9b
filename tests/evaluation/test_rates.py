"""Rates against published values, and their coverage where tries depend on each other."""

import math

import numpy as np
import pytest
from scipy import stats

from stratagem.measure.rates import rate, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (8, 10, 0.4902, 0.9433), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_wilson_against_published_values(successes, n, low, high):
    found = wilson(successes, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert found.mean == successes / n
    theirs = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_wilson_takes_ties_as_halves_and_other_confidences():
    assert wilson(2.5, 5).mean == 0.5
    assert wilson(5, 10, 0.99).low < wilson(5, 10).low
    assert math.isnan(wilson(0, 0).mean)


def rate_of(hits, tries):
    """Rate over clusters of so many tries each, with these hits."""
    rows = list(enumerate(hits))
    return rate(rows, lambda row: row[1], lambda row: tries, lambda row: row[0])


def test_a_rate_of_few_clusters_has_fewer_effective_tries():
    """Korn and Graubard 1998: p (1 - p) / se^2 tries, here 12, times (t_11 / t_2)^2 = (2.201 / 4.303)^2."""
    found, tries = rate_of([1.0, 2.0, 3.0], 4), 12.0 * (2.201 / 4.303) ** 2
    assert found.se == pytest.approx(0.25 / math.sqrt(3.0))
    wanted = wilson(0.5 * tries, tries)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-3)


def test_a_rate_of_deals_that_differ_little_has_more_effective_tries_than_tries():
    """Of 30 pairs two are not split: with one pair of hits and one of none more, p (1 - p) / se^2 tries."""
    found, squares = rate_of([2.0, 0.0, *[1.0] * 28], 2), 4 * 0.5**2
    tries = 0.25 / (squares / (32 * 31))
    wanted = wilson(0.5 * tries, tries)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))
    assert tries > 60.0


def test_tries_of_deals_that_differ_more_than_coins_are_never_added():
    """Half of the pairs are two hits and half are none, so a pair is about one try, and the two more would add two."""
    found, tries = rate_of([2.0, 0.0] * 30, 2), 59.0 * (stats.t.ppf(0.975, 119) / stats.t.ppf(0.975, 59)) ** 2
    wanted = wilson(0.5 * tries, tries)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


@pytest.mark.parametrize("deals", range(2, 60))
@pytest.mark.parametrize("turns", [3, 5, 7, 9])
def test_deals_that_all_agree_have_the_interval_of_clopper_and_pearson(deals, turns):
    """Each deal has one hit in as many turns, and what is left of their spread is rounding.

    Deals of another share are at most `1 - .025^(1/n)` of all, and theirs is at least 0 and at most 1.
    """
    agreed = rate_of([1.0] * deals, turns)
    others = stats.binomtest(0, deals).proportion_ci(0.95, method="exact").high
    assert (agreed.low, agreed.high) == pytest.approx((1 / turns * (1 - others), 1 / turns + (1 - 1 / turns) * others))
    assert agreed.n == deals


@pytest.mark.parametrize("hits", [0.0, 3.0])
def test_deals_without_any_or_any_other_hit_are_one_try_each(hits):
    found, wanted = rate_of([hits] * 20, 3), wilson(hits / 3 * 20, 20)
    assert (found.low, found.high) == (wanted.low, wanted.high)


@pytest.mark.parametrize(("luck", "skill"), [(0.5, 0.5), (0.5, 0.8), (0.8, 0.9), (0.9, 1.0), (0.0, 0.8)])
def test_a_rate_of_paired_zero_sum_seats_covers_its_mean_19_times_in_20(luck, skill):
    """A share of deals is won by the seat, whoever has it. With as many tries as seats 99 to 100 % cover."""
    generator, true, held, count = np.random.default_rng(1), 0.5 * luck + (1.0 - luck) * skill, 0, 600
    for _ in range(count):
        decided = generator.random(60) < luck
        wins = (generator.random((60, 2)) < skill).sum(axis=1)
        found = rate_of(np.where(decided, 1, wins).tolist(), 2)
        held += found.low <= true <= found.high
    assert 0.93 <= held / count <= 0.985
