"""Lower limit of a mean of few bounded observations: known values, and skewed gains that Student's t misses."""

import numpy as np
import pytest
from scipy.stats import beta

from stratagem.games import Key
from stratagem.measure.deal_means import lower_mean


@pytest.mark.parametrize(("hits", "tries"), [(5, 5), (7, 10), (18, 40), (0, 6)])
def test_two_outcomes_have_the_limit_of_clopper_and_pearson(hits, tries):
    known = beta.ppf(0.05, hits, tries - hits + 1) if hits else 0.0
    found = lower_mean([1.0] * hits + [0.0] * (tries - hits), 0.0, Key(3))
    assert found.lower == pytest.approx(known, abs=0.006)


def test_the_limit_is_above_0_where_p_is_at_most_5_percent():
    for gain in (0.3, 0.5, 0.8, 1.0, 1.3):
        found = lower_mean([gain, gain, gain, 0.9, 1.0], -1.0, Key(1))
        assert (found.lower > 0.0) == (found.p <= 0.05)


def test_five_won_deals_suffice_and_four_do_not():
    """If all n gains are as large as the floor is low, p is 2^-n."""
    assert lower_mean([1.0] * 5, -1.0, Key(0)).p == pytest.approx(2**-5, abs=0.005)
    assert lower_mean([1.0] * 5, -1.0, Key(0)).lower > 0.0 > lower_mean([1.0] * 4, -1.0, Key(0)).lower


def test_rare_losses_raise_few_alarms():
    """Gains of .1, and of -.9 one time in ten, have the mean 0: Student's t calls them gains 20 times in 100."""
    rng = np.random.default_rng(0)
    gains = np.where(rng.random((200, 15)) < 0.9, 0.1, -0.9)
    assert sum(lower_mean(row.tolist(), -1.0, Key(n), draws=999).lower > 0.0 for n, row in enumerate(gains)) <= 16


def test_a_farther_floor_lowers_the_limit():
    near, far = (lower_mean([0.5, 0.7, 0.2, 0.9], floor, Key(2)).lower for floor in (-1.0, -4.0))
    assert far < near < 0.575
