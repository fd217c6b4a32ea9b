"""Statistics against published values, against numpy, and under the null."""

import math
import random

import numpy as np
import pytest
from scipy import stats

from stratagem.games.key import Key
from stratagem.measure.statistics import (
    Estimate,
    clustered_mean,
    exactly,
    holm,
    jackknife,
    mean,
    mean_of,
    paired_difference,
    ratio,
    sign_flip_p,
    students,
    students_p,
    with_interval,
)


def noise(count, seed=1, shift=0.0):
    generator = random.Random(seed)
    return [generator.gauss(shift, 2.0) for _ in range(count)]


def test_mean_and_error_against_numpy():
    for count in (2, 3, 50):
        values = noise(count)
        found = mean(values)
        assert found.mean == pytest.approx(np.mean(values))
        assert found.se == pytest.approx(stats.sem(values))
        assert found.n == count
    assert mean([4.0]) == Estimate(4.0, None, 1)
    assert math.isnan(mean([]).mean)


def test_clusters_are_single_observations():
    items = [("a", 1.0), ("a", 3.0), ("b", 4.0), ("c", 0.0), ("c", 0.0)]
    assert clustered_mean(items, lambda item: item[1], lambda item: item[0]) == mean([2.0, 4.0, 0.0])


def test_the_mean_of_estimates_carries_their_errors():
    found = mean_of([Estimate(1.0, 0.3, 10), Estimate(3.0, 0.4, 20)])
    assert (found.mean, found.se, found.n) == (2.0, pytest.approx(0.25), 30)
    assert mean_of([Estimate(1.0, None, 1), Estimate(3.0, 0.4, 20)]).se is None
    assert mean_of([exactly(1.0), exactly(2.0)]) == exactly(1.5)
    mixed = mean_of([exactly(1.0), Estimate(3.0, 0.4, 20)])
    assert (mixed.exact, mixed.se) == (False, pytest.approx(0.2))


def test_the_jackknife_of_a_mean_is_the_mean_with_its_error():
    values = noise(30)
    rows = [[value, 1.0] for value in values]
    found = jackknife([rows], lambda sums: sums[0, 0] / sums[0, 1])
    assert (found.mean, found.se) == (pytest.approx(mean(values).mean), pytest.approx(mean(values).se))


def test_the_jackknife_of_a_mean_of_strata_is_the_mean_of_estimates():
    strata = [noise(5, 1, 10.0), noise(20, 2, -3.0)]
    found = jackknife(
        [[[v, 1.0] for v in rows] for rows in strata], lambda sums: float((sums[:, 0] / sums[:, 1]).mean())
    )
    wanted = mean_of([mean(rows) for rows in strata])
    assert (found.mean, found.se) == (pytest.approx(wanted.mean), pytest.approx(wanted.se))
    assert found.n == 25


def test_the_jackknife_weighs_strata_by_their_rows():
    strata = [noise(5, 1, 10.0), noise(20, 2, -3.0)]
    found = jackknife([[[v] for v in rows] for rows in strata], lambda sums: sums.sum() / 25)
    assert found.mean == pytest.approx(np.mean([*strata[0], *strata[1]]))
    assert found.se == pytest.approx(math.hypot(*(len(rows) / 25 * mean(rows).se for rows in strata)))


def test_the_jackknife_says_nothing_about_a_single_row():
    assert jackknife([[[2.0]]], lambda sums: sums[0, 0]) == Estimate(2.0, None, 1)
    assert jackknife([[[2.0], [3.0]], [[1.0]]], lambda sums: sums.sum()).se is None


def test_the_jackknifes_error_of_a_ratio_is_what_repetition_shows():
    generator = np.random.default_rng(3)

    def sample():
        counts = generator.integers(1, 6, size=60)
        totals = counts * generator.normal(1.0, 1.0, size=60)
        return ratio(list(zip(totals, counts, strict=True)), lambda i: i[0], lambda i: i[1], id)

    found = [sample() for _ in range(300)]
    spread = np.std([one.mean for one in found])
    assert np.mean([one.se for one in found]) == pytest.approx(spread, rel=0.1)


def test_a_ratio_is_of_sums_by_cluster():
    items = [("a", 3.0, 1), ("a", 1.0, 3), ("b", 4.0, 2)]
    found = ratio(items, lambda i: i[1], lambda i: i[2], lambda i: i[0])
    assert (found.mean, found.n) == (pytest.approx(8 / 6), 2)


def test_permutation_p_values_are_uniform_under_the_null():
    ps = [paired_difference(noise(20, 2 * i), noise(20, 2 * i + 1), Key(i), 400).p_value for i in range(300)]
    assert stats.kstest(ps, "uniform").pvalue > 0.01
    assert 0.02 < np.mean(np.array(ps) <= 0.05) < 0.09


def test_a_real_difference_is_found():
    found = paired_difference(noise(60, 1, 2.0), noise(60, 2), Key(1))
    assert found.p_value < 0.001
    assert found.estimate.mean == pytest.approx(np.mean(noise(60, 1, 2.0)) - np.mean(noise(60, 2)))


def test_pairing_sees_what_the_noise_of_the_deals_would_hide():
    deals = noise(30)
    better = [deal + 0.2 + small / 10 for deal, small in zip(deals, noise(30, 5), strict=True)]
    assert paired_difference(better, deals, Key(1)).p_value < 0.001
    assert stats.ttest_ind(better, deals).pvalue > 0.3


def test_equal_players_have_p_one():
    assert paired_difference([1.0] * 10, [1.0] * 10, Key(1)).p_value == 1.0
    few = paired_difference([0.1, 0.2, 0.3], [0.0, 0.0, 0.0], Key(1))
    assert few.p_value == 0.25  # of eight sign patterns two are as large


@pytest.mark.parametrize("seed", range(4))
def test_sign_flip_p_of_few_values_is_exact(seed):
    values = noise(9, seed, 1.0)
    theirs = stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    assert sign_flip_p(values, Key(seed)) == pytest.approx(theirs)
    drawn = sign_flip_p(values, Key(seed), 500)  # fewer than the 512 patterns, so they are drawn
    assert drawn == pytest.approx(theirs, abs=4 * math.sqrt(theirs * (1 - theirs) / 500) + 1 / 501)


def test_sign_flip_p_of_drawn_patterns_is_never_zero():
    """Phipson and Smyth 2010: of r patterns, none as extreme makes 1 / (r + 1)."""
    assert sign_flip_p([1.0] * 60, Key(0), 400) == pytest.approx(1 / 401)


def test_sign_flip_p_of_five_seeds_cannot_be_below_a_sixteenth():
    assert sign_flip_p([5.0, 4.0, 3.0, 2.0, 1.0], Key(0)) == 0.0625
    assert sign_flip_p([1.0] * 16, Key(0), 2**20) == 2 / 2**16


def test_students_p_against_scipy_and_its_interval():
    for count in (2, 5, 30):
        found = with_interval(noise(count, 7, 1.0))
        assert students_p(found) == pytest.approx(stats.ttest_1samp(noise(count, 7, 1.0), 0.0).pvalue)
        assert (students_p(found) < 0.05) == (found.low > 0.0 or found.high < 0.0)
    assert students_p(mean([1.0])) is None
    assert students_p(exactly(1.0)) is None


def test_students_p_of_equal_values_is_that_of_sign_flips():
    for values in ([1.0] * 2, [0.25] * 5, [0.1 + 0.2, 0.3, 0.3]):
        assert students_p(mean(values)) == pytest.approx(sign_flip_p(values, Key(0)))
    assert students_p(mean([0.0, 0.0])) == 1.0


def test_sign_flip_p_of_what_is_no_number_is_none_either():
    for wrong in (math.nan, math.inf):
        assert math.isnan(sign_flip_p([1.0, wrong], Key(0)))
        assert math.isnan(sign_flip_p([wrong] * 20, Key(0)))


@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [  # R's p.adjust(raw, "holm") for the first, and statsmodels 0.15's multipletests(raw, method="holm")
        ([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09]),
        ([0.04, 0.001, 0.03, 0.005], [0.06, 0.004, 0.06, 0.015]),
        ([0.9, 0.6, 0.01], [1.0, 1.0, 0.03]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_holm_against_published_values(raw, adjusted):
    assert holm(raw) == pytest.approx(adjusted)


def test_holm_keeps_order_and_is_never_below_the_raw_p_or_above_one():
    generator = random.Random(3)
    for count in range(1, 40):
        raw = [generator.random() ** 3 for _ in range(count)]
        adjusted = holm(raw)
        assert all(p <= own <= 1.0 for p, own in zip(raw, adjusted, strict=True))
        assert min(adjusted) == min(1.0, count * min(raw))  # the least p is Bonferroni's
        by_raw = [own for _, own in sorted(zip(raw, adjusted, strict=True))]
        assert by_raw == sorted(by_raw)


def test_holm_does_not_depend_on_the_order_of_the_tests():
    raw = [0.04, 0.2, 0.001, 0.04, 0.5, 0.03]
    places = random.Random(1).sample(range(6), 6)
    assert holm([raw[place] for place in places]) == [holm(raw)[place] for place in places]


def test_holm_bounds_the_chance_of_any_false_rejection():
    generator = random.Random(2)
    any_rejected = [min(holm([generator.random() for _ in range(15)])) <= 0.05 for _ in range(4000)]
    assert np.mean(any_rejected) == pytest.approx(1 - (1 - 0.05 / 15) ** 15, abs=0.011)


def test_holm_refuses_what_is_no_probability():
    for wrong in (1.5, -0.1, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            holm([0.1, wrong])


def test_ties_in_the_last_digit_count_as_ties():
    values = [0.1, 0.2, 0.3, -0.1, -0.2, -0.3] * 50
    exact = paired_difference([round(10 * v) for v in values], [0] * 300, Key(1), 2000)
    assert paired_difference(values, [0.0] * 300, Key(1), 2000).p_value == exact.p_value


def test_the_detectable_difference_is_found_four_times_in_five():
    effect = paired_difference(noise(40), [0.0] * 40, Key(1), 10).detectable
    power = stats.t.ppf(0.975, 39) + stats.t.ppf(0.8, 39)
    assert effect == pytest.approx(power * stats.sem(noise(40)))
    shift = power * 2.0 / math.sqrt(40)
    found = [paired_difference(noise(40, i, shift), [0.0] * 40, Key(i), 400).p_value <= 0.05 for i in range(300)]
    assert 0.72 < np.mean(found) < 0.87


def test_the_detectable_difference_of_ten_deals_is_found_four_times_in_five():
    power = stats.t.ppf(0.975, 9) + stats.t.ppf(0.8, 9)
    assert paired_difference(noise(10), [0.0] * 10, Key(1)).detectable == pytest.approx(power * stats.sem(noise(10)))
    shift = power * 2.0 / math.sqrt(10)
    found = [paired_difference(noise(10, i, shift), [0.0] * 10, Key(i)).p_value <= 0.05 for i in range(300)]
    assert 0.75 < np.mean(found) < 0.87


def test_no_difference_can_be_detected_with_five_deals():
    assert math.isnan(paired_difference([1.0, 1.1, 1.2, 1.3, 1.4], [0.0] * 5, Key(1)).detectable)
    assert paired_difference([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [0.0] * 6, Key(1)).detectable > 0.0


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_equal_differences_do_not_tell_what_can_be_detected(shift):
    first = [0.1 * deal for deal in range(10)]
    assert math.isnan(paired_difference([value + shift for value in first], first, Key(1)).detectable)


def test_many_deals_need_little_memory():
    import tracemalloc

    tracemalloc.start()
    paired_difference(noise(20_000), [0.0] * 20_000, Key(1), 500)
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()


@pytest.mark.filterwarnings("error")
def test_a_ratio_that_one_cluster_alone_defines_has_no_error():
    found = ratio([(0, 1.0, 2.0), (1, 0.0, 0.0)], lambda row: row[1], lambda row: row[2], lambda row: row[0])
    assert (found.mean, found.se, found.n) == (0.5, None, 2)


def test_an_estimate_in_a_unit_of_the_other_sign_has_its_ends_in_order():
    found = Estimate(2.0, 0.5, 7, low=1.0, high=4.0).times(-3.0)
    assert (found.mean, found.se, found.low, found.high) == (-6.0, 1.5, -12.0, -3.0)


@pytest.mark.parametrize(("n", "reach"), [(2, 12.706), (5, 2.776), (11, 2.228)])
def test_students_interval_against_the_published_table(n, reach):
    """Two-sided 95 % points of Student's t with n - 1 degrees of freedom."""
    found = students(Estimate(1.0, 2.0, n))
    assert (found.low, found.high) == pytest.approx((1.0 - 2.0 * reach, 1.0 + 2.0 * reach), abs=2e-3)


def test_sign_flip_p_is_exact_where_there_are_as_many_patterns_as_rounds():
    """Eight patterns of three differences: the sum is as large in two of them."""
    assert sign_flip_p([1.0, 2.0, 3.0], Key(0), rounds=8) == 2 / 8
