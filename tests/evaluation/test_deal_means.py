"""Means over deals: intervals against published values, and their coverage where payoffs are skewed."""

import numpy as np
import pytest
from scipy import stats

from stratagem.games import Key, make_game
from stratagem.measure.deal_means import mean_of_deals
from stratagem.measure.statistics import with_interval
from stratagem.measure.talk import sampled_talk
from stratagem.measure.talk.definitions import gullibility
from stratagem.measure.talk.sampled_talk import TalkPlan, TalkPlay
from stratagem.players.catalogue import make_player


def test_equal_deals_have_an_interval_too():
    """Of 2 equal deals at most 1 - .025^(1/2) = .842 of all others may differ (Clopper and Pearson 1934)."""
    same = mean_of_deals([1.0, 1.0], -2.0, 2.0)
    assert (same.mean, same.se) == (1.0, 0.0)
    assert (same.low, same.high) == pytest.approx((1.0 - 0.8418861 * 3.0, 1.0 + 0.8418861))
    assert mean_of_deals([1.0, 0.0], -2.0, 2.0).high == pytest.approx(0.5 + 12.7062047 * 0.5)  # Student's t, as ever
    assert mean_of_deals([1.0], -2.0, 2.0).low is None
    assert mean_of_deals([1.0, 1.0], -np.inf, np.inf).low == 1.0  # a game without bounds of payoffs


@pytest.mark.parametrize("value", [11 / 6, 0.1 + 0.2, 7 / 15, -5 / 3])
@pytest.mark.parametrize("number", [3, 20, 200])
def test_rounding_is_no_spread_of_equal_deals(value, number):
    """A mean of 200 times 11/6 is not 11/6 to the last digit."""
    same = mean_of_deals([value] * number, -20.0, 20.0)
    share = 1.0 - 0.025 ** (1.0 / number)
    assert (same.low, same.high) == pytest.approx((value - share * (value + 20.0), value + share * (20.0 - value)))


def test_intervals_cover_where_most_deals_are_alike():
    rng, hits = np.random.default_rng(0), 0
    for _ in range(400):
        estimate = mean_of_deals(rng.choice([1.0, -1.0], 20, p=[0.97, 0.03]).tolist(), -1.0, 1.0)
        hits += estimate.low <= 0.94 <= estimate.high
    assert hits >= 0.95 * 400


def test_mean_of_deals_has_fewer_degrees_of_freedom_where_tails_are_heavy():
    """Box 1953: 2 / (2 / (n - 1) + excess / n), by scipy's kurtosis."""
    values = [0.0] * 15 + [-1.0, -1.0, -1.0, 2.0, -3.0]
    degrees = 2.0 / (2.0 / 19 + stats.kurtosis(values) / 20)
    found, reach = mean_of_deals(values, -4.0, 4.0), stats.t.ppf(0.975, degrees) * stats.sem(values)
    assert degrees == pytest.approx(6.1, abs=0.01)
    assert (found.low, found.high) == pytest.approx((np.mean(values) - reach, np.mean(values) + reach))


def test_mean_of_deals_with_light_tails_is_students():
    values = [-2.0, -1.0, -1.0, 0.0, 1.0, 2.0, 2.0]
    assert mean_of_deals(values, -2.0, 2.0) == with_interval(values)


def coverage(values, interval, size, repetitions=800):
    """Share of samples of so many of these values whose interval holds their mean."""
    rng, true = np.random.default_rng(2), float(np.mean(values))
    found = [interval(rng.choice(values, size).tolist()) for _ in range(repetitions)]
    return sum(one.low <= true <= one.high for one in found) / repetitions


@pytest.fixture(scope="module")
def differences():
    """Gains of a believer in 1,000 deals of Kuhn poker where it does not hear an honest speaker."""
    game, seen = make_game("talk(kuhn(hands=1), before=round, intents=[state])"), []
    pair = [make_player(name, game) for name in ("honest(NashApprox)", "believer(NashApprox)")]
    table = TalkPlay(game, *pair, 0, TalkPlan(episodes=1000, key=Key(11), replies=1, playouts=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampled_talk, "mean_of_deals", lambda values, low, high: seen.append(values))
        table.less("deaf", "talk")
    _, readers = seen
    return readers


@pytest.mark.parametrize("deals", [30, 60])
def test_a_sampled_gullibility_covers_19_times_in_20(differences, deals):
    """Five deals of six differ by nothing. Student's interval of 30 deals covers in 86 % only."""
    assert np.mean(np.equal(differences, 0.0)) > 0.8
    assert 0.93 <= coverage(differences, lambda values: mean_of_deals(values, -4.0, 4.0), deals) <= 0.985


def test_a_gullibility_that_was_never_seen_is_not_certain():
    game = make_game("talk(kuhn(hands=1), before=round, intents=[state])")
    pair = [make_player(name, game) for name in ("honest(NashApprox)", "NashApprox")]
    found = gullibility(TalkPlay(game, *pair, 0, TalkPlan(episodes=20, key=Key(0), replies=1, playouts=1)))
    share = 4.0 * stats.binomtest(0, 20).proportion_ci(0.95, method="exact").high  # a return is from -2 to 2
    assert (found.mean, found.low, found.high) == (0.0, pytest.approx(-share), pytest.approx(share))
