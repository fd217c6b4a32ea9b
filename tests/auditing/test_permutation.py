"""Permutation tests of replies: what they find, and how often they find what is not there."""

import numpy as np
import pytest

from stratagem.games import Key
from stratagem.measure.sampled.permutation import dependence_p, differ, distances_of_cuts, find_change, follow


def drawn(seed, shares, size):
    rng = np.random.default_rng(seed)
    return [rng.choice(len(p), size=size, p=p).tolist() for p in shares]


SHARES = [(0.5, 0.5), (0.9, 0.1), (0.3, 0.7)]


def test_a_model_that_is_replaced_in_the_middle_is_noticed():
    early, late = drawn(1, SHARES, 20), drawn(2, [(p[1], p[0]) for p in SHARES], 60)
    tested = find_change([one + other for one, other in zip(early, late, strict=True)], Key(1), rounds=999)
    assert tested.p == pytest.approx(0.001)
    assert tested.question == 1  # whose shares moved most


def test_replies_in_turn_are_noticed():
    assert follow([[0, 1] * 20], Key(1), rounds=999).p == pytest.approx(0.001)
    assert follow([[0, 1] * 20], Key(1), rounds=999).value == pytest.approx(-0.49, abs=0.03)
    assert follow([[0] * 10 + [1] * 10], Key(1), rounds=999).p < 0.01


def copied(seed, rate, size=60, questions=12):
    """Replies of which a share are one of the earlier ones to the same question, each alike."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(questions):
        row = []
        for _ in range(size):
            row.append(row[rng.integers(len(row))] if row and rng.random() < rate else int(rng.random() < 0.5))
        rows.append(row)
    return rows


def test_copies_of_all_earlier_replies_are_noticed():
    """The first replies are copied most, so equal replies stand near each other at the start of each question."""
    found = sum(follow(copied(seed, 0.6), Key(seed), rounds=199).p <= 0.05 for seed in range(20))
    steady = sum(follow(copied(seed, 0.0), Key(seed), rounds=199).p <= 0.05 for seed in range(20))
    assert found >= 8
    assert steady <= 4


def test_dependence_is_the_smaller_of_two_tests_by_bonferroni():
    replies = drawn(1, SHARES, 30)
    change, sequence = find_change(replies, Key(1), 99).p, follow(replies, Key(1), 99).p
    assert dependence_p(replies, Key(1), 99) == min(1.0, 2 * min(change, sequence))
    assert dependence_p([[0, 1] * 20], Key(1)) == pytest.approx(2 / 500)
    assert dependence_p([[0] * 20 + [1] * 20], Key(1)) == pytest.approx(2 / 500)
    assert dependence_p([[0], [1]], Key(1)) == 1.0


def test_two_policies_are_told_apart_and_one_is_not():
    one, other = drawn(3, SHARES, 40), drawn(4, [(0.5, 0.5), (0.1, 0.9), (0.3, 0.7)], 40)
    found = differ(one, other, Key(1), rounds=999)
    assert (found.p, found.question) == (pytest.approx(0.001), 1)
    assert differ(one, one, Key(1), rounds=99).value == 0.0


def differ_by_halves(replies, key, rounds):
    return differ([row[:12] for row in replies], [row[12:] for row in replies], key, rounds)


def differ_unevenly(replies, key, rounds):
    """Settings of which the one has as many replies of a question as the other has of another."""
    cuts = [2, 12, 22]
    pairs = list(zip(replies, cuts, strict=True))
    return differ([row[:cut] for row, cut in pairs], [row[cut:] for row, cut in pairs], key, rounds)


def test_many_replies_of_both_count_more_than_many_of_one():
    """A single reply against many has a squared difference of 1 by chance, and 40 against 40 never."""
    first = [[0] * 40, *[[0]] * 3]
    second = [[0] * 20 + [1] * 20, *[[0] * 70 + [1] * 10] * 3]
    assert differ(first, second, Key(1), rounds=999).p == pytest.approx(0.001)
    assert differ(first, second, Key(1), rounds=999).question == 0


@pytest.mark.parametrize(
    "test", [find_change, follow, differ_by_halves, differ_unevenly], ids=lambda test: test.__name__
)
def test_the_level_holds(test):
    """Of 200 steady agents about one in twenty has p at most .05: 20 or more would have a chance below .2 %."""
    hits = sum(test(drawn(seed, SHARES, 24), Key(seed), rounds=99).p <= 0.05 for seed in range(200))
    assert hits < 20


def test_a_single_reply_and_equal_replies_say_nothing():
    for replies in ([[0]], [[1, 1, 1, 1]], [[]]):
        assert find_change(replies, Key(0), rounds=9).p == 1.0
        assert follow(replies, Key(0), rounds=9).p == 1.0
    assert differ([[0]], [[]], Key(0), rounds=9).p == 1.0


def test_change_in_the_middle_is_a_total_variation_of_one():
    assert find_change([[0] * 8 + [1] * 8] * 3, Key(1), 99).value == pytest.approx(1.0)


def distance_of_one_cut(rows, cut, power):
    """The formula of one cut, by means of columns."""
    size, total = rows.shape[1], np.zeros(len(rows))
    if not 0 < cut < size:
        return total
    for action in np.unique(rows[0]):
        hits = rows == action
        total += np.abs(hits[:, :cut].mean(axis=1) - hits[:, cut:].mean(axis=1)) ** power
    return size * total


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 113])
def test_distances_of_several_cuts_equal_those_of_each_to_the_last_bit(size, power):
    rng = np.random.default_rng(size)
    rows = rng.permuted(np.tile(rng.integers(-1, 3, size), (40, 1)), axis=1)
    cuts = [0, 1, max(1, size // 3), max(0, size - 1), size]
    assert distances_of_cuts(rows, cuts, power).tolist() == [
        distance_of_one_cut(rows, cut, power).tolist() for cut in cuts
    ]
