"""Paired tests of a declared family: pairing by seed, p-values, Holm's correction over what was declared."""

import pytest
from scipy import stats

from stratagem.base.errors import StratagemError
from stratagem.games.key import Key
from stratagem.measure.comparisons import Family
from stratagem.sweeps.comparison import by_seed, pair_seeds, paired_tests, sign_flips, students

FAMILY = Family("three comparisons", ("a", "b", "c"))
UP = {seed: 1.0 + 0.1 * seed for seed in range(6)}


def test_paired_leaves_out_seeds_that_one_arm_lacks():
    assert pair_seeds({2: 5.0, 0: 3.0, 1: 1.0}, {0: 1.0, 2: 2.0, 7: 0.0}) == {0: 2.0, 2: 3.0}


def test_by_seed_leaves_out_seeds_without_a_value():
    assert by_seed([(0, 1.0), (1, None), (2, 0.0)]) == {0: 1.0, 2: 0.0}


def test_paired_tests_count_comparisons_without_runs_as_p_of_one():
    (test,) = paired_tests(FAMILY, {"b": UP}, sign_flips(Key(0))).values()
    assert test.p == 2 / 2**6
    assert test.holm_p == 3 * test.p
    assert (test.estimate.mean, test.estimate.n) == (pytest.approx(1.25), 6)


def test_paired_tests_leave_comparisons_with_too_few_seeds_without_p():
    tests = paired_tests(FAMILY, {"a": UP, "b": {0: 1.0}, "c": {}}, sign_flips(Key(0), min_seeds=6))
    assert [(test.p is None, test.holm_p is None) for test in tests.values()] == [(False, False), *[(True, True)] * 2]
    assert tests["a"].holm_p == 3 * tests["a"].p


def test_paired_tests_refuse_a_comparison_that_was_not_declared():
    with pytest.raises(StratagemError, match="declared without d"):
        paired_tests(FAMILY, {"d": UP}, students)


def test_students_is_the_paired_t_test():
    test = paired_tests(FAMILY, {"a": UP}, students)["a"]
    assert test.p == pytest.approx(stats.ttest_1samp([*UP.values()], 0.0).pvalue)


def test_sign_flips_draw_by_the_name_of_the_comparison():
    values = [0.1, -0.2, 0.3, 0.15, -0.05]
    first, again, other = (sign_flips(Key(0), rounds=8)(name, values) for name in "aab")
    assert first == again != other
