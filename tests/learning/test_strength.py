"""Verdicts on a term of the reward: constant, all noise, acting, or too early to say."""

import json

import pytest

from stratagem.learning.strength import ENOUGH, Signal, Signals


def fed(*dots, noise=2.0):
    signals = Signals()
    for dot in dots:
        signals.add({"x": Signal(dot, noise, False)})
    return signals


def verdict(*dots):
    return fed(*dots).strengths()["x"].verdict


def test_verdicts_wait_for_enough_measurements():
    alternating = [0.1, -0.1] * ENOUGH
    assert verdict(1.0, 1.1) == "early"
    assert verdict(1.0, 1.1, 0.9) == "acts"
    assert verdict(*alternating[: ENOUGH - 1]) == "early"
    assert verdict(*alternating[:ENOUGH]) == "no direction"
    assert verdict(*[-1.0] * ENOUGH) == "no direction"
    for count, said in ((2, "early"), (3, "constant")):
        signals = Signals()
        for _ in range(count):
            signals.add({"x": Signal(0.0, 0.0, True)})
        assert signals.strengths()["x"].verdict == said


def test_what_may_well_have_a_direction_is_not_called_noise():
    assert verdict(*[1.0, -0.7] * ENOUGH) == "early"
    assert verdict(*[1.0, -0.7] * 20 * ENOUGH) == "acts"
    assert verdict(*[0.7, -0.7] * 20 * ENOUGH) == "no direction"


def test_mean_error_and_ratio_are_those_of_the_textbook():
    found = fed(1.0, 2.0, 6.0).strengths()["x"]
    assert (found.count, found.mean, found.noise) == (3, 3.0, 2.0)
    assert found.error == pytest.approx((7.0 / 3.0) ** 0.5)
    assert (found.ratio, found.ratio_error) == pytest.approx((3.0, (7.0 / 3.0) ** 0.5))


def test_a_state_is_json_and_goes_on_as_if_nothing_had_been():
    whole, first, again = fed(1.0, 2.0, 6.0), fed(1.0, 2.0), Signals()
    again.restore(json.loads(json.dumps(first.state())))
    again.add({"x": Signal(6.0, 2.0, False)})
    assert again.strengths() == whole.strengths()
