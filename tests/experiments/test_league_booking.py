"""The experiment on booking: sides, leads, intervals by position, and what the matchmaker makes of results."""

import math
from importlib import import_module

import pytest

booking = import_module("league_booking")
Row, Pair = booking.Row, booking.Pair


def row(position, learner, opponent, payoff, gain, lead):
    return Row(position, learner, opponent, {"payoff": payoff, "gain": gain}, lead)


ROWS = [
    row(0, "DumbBot", "random", [1.0, 0.0], [1.0, 1.0], [0.2, -0.1]),
    row(0, "random", "DumbBot", [0.5], [0.0], [0.1]),
    row(1, "random", "DumbBot", [0.0, 0.0], [1.0, 0.0], [-0.3, -0.3]),
    row(1, "random", "random", [1.0], [0.5], [0.4]),
]
PAIRS = [Pair(0, {"payoff": 1.0, "gain": 0.0}), Pair(1, {"payoff": 1.0, "gain": 1.0})]


def test_rates_are_the_strongers_whoever_is_the_learner_and_a_position_is_one_observation():
    table = booking.rates(ROWS, PAIRS)
    found = table["DumbBot above random"]
    assert (found["payoff"].mean, found["payoff"].n) == (pytest.approx((0.5 + 1.0) / 2), 2)
    assert found["gain"].mean == pytest.approx((1.0 + 0.5) / 2)
    assert table["a member above its equal"]["payoff"].mean == 1.0
    assert table["equals that keep the order of their standings"]["gain"].mean == 0.5


def test_rates_are_told_apart_by_who_stood_better():
    """At the first position the stronger leads once and is behind twice; at the second it leads."""
    table = booking.rates(ROWS, PAIRS)
    assert table["any stronger, where it stood better"]["payoff"].mean == pytest.approx((1.0 + 1.0) / 2)
    assert table["any stronger, where it stood worse"]["payoff"].mean == pytest.approx((0.0 + 0.5) / 2)
    assert table["any stronger, where it stood worse"]["gain"].mean == pytest.approx(1.0)


def test_odds_follow_from_results_that_are_entered_by_rollout_or_by_group():
    rows = [
        row(0, "DumbBot(.2)", "DumbBot", [0.5, 0.5], [0.0, 0.0], [0.0, 0.0]),
        row(0, "DumbBot(.2)", "random", [0.5, 0.5], [1.0, 0.0], [0.0, 0.0]),
        row(1, "DumbBot(.2)", "random", [0.5], [1.0], [0.0]),
        row(0, "random", "DumbBot", [0.0], [0.0], [0.0]),
    ]
    strongest, unmet, weakest = booking.odds(rows, "DumbBot(.2)", "gain", grouped=True)
    rate = (0.5 * 0.99 + 1.0) / 1.99
    assert strongest / unmet == pytest.approx(1.0 / 0.25)
    assert weakest / unmet == pytest.approx((1.0 - rate) ** 2 / 0.25)
    rate = (1.0 * 0.99**2 + 1.0) / (1.0 + 0.99 + 0.99**2)
    each = booking.odds(rows, "DumbBot(.2)", "gain", grouped=False)
    assert each[2] / each[1] == pytest.approx((1.0 - rate) ** 2 / 0.25)
    assert booking.odds(rows, "DumbBot(.2)", "payoff", grouped=True) == pytest.approx([1 / 3] * 3)


def test_needed_positions_give_four_chances_of_five():
    estimate = booking.Estimate(0.6, 0.02, 25)
    assert booking.needed(estimate) == pytest.approx(((1.959964 + 0.841621) * 0.1 / 0.1) ** 2, rel=1e-5)
    assert math.isclose(booking.needed(booking.Estimate(0.4, 0.02, 25)), booking.needed(estimate))
