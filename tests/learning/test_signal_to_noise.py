"""Verdicts on a term of the reward: constant, all noise, acting, or too early to say."""

import json

import numpy as np
import pytest

from stratagem.learn.signal_to_noise import ENOUGH, GradientSignal, SignalToNoiseTracker

CONSTANT = GradientSignal(0.0, 0.0, True)


def fed(*dots, noise=2.0):
    signals = SignalToNoiseTracker()
    for dot in dots:
        signals.add({"x": GradientSignal(dot, noise, False)})
    return signals


def verdict(*dots):
    return fed(*dots).estimates()["x"].verdict


def noise(draw, steps, size=40):
    """SignalToNoiseTracker of halves that have nothing to do with each other."""
    for first, second in draw.normal(size=(steps, 2, size)):
        yield GradientSignal(first @ second, first @ first + second @ second, False)


def verdicts(signals):
    """The verdict after each measurement."""
    known = SignalToNoiseTracker()
    for signal in signals:
        known.add({"x": signal})
        yield known.estimates()["x"].verdict


def test_verdicts_wait_for_enough_measurements():
    alternating = [0.1, -0.1] * 40
    assert verdict(1.0, 1.0, 1.0) == "early"
    assert verdict(*[1.0] * 7) == "acts"
    assert verdict(*alternating[:10]) == "early"
    assert verdict(*alternating) == "no direction"
    assert verdict(*[-1.0] * 7) == "no direction"
    for count, said in ((2, "early"), (3, "constant")):
        assert list(verdicts([CONSTANT] * count))[-1] == said


def test_what_may_well_have_a_direction_is_not_called_noise():
    assert verdict(*[1.0, -0.7] * 10) == "early"
    assert verdict(*[1.0, -0.7] * 200) == "acts"
    assert verdict(*[0.7, -0.7] * 200) == "no direction"


def test_noise_earns_acts_in_at_most_a_twentieth_of_runs_that_are_looked_at_after_each_step():
    """Under two standard errors, looked at as often, about a fifth of such runs once earned it."""
    draw, runs = np.random.default_rng(20), 400
    wrong = sum("acts" in verdicts(noise(draw, 60, size=2)) for _ in range(runs))
    assert wrong <= 0.05 * runs


def test_noise_is_called_no_direction_within_sixty_steps():
    draw = np.random.default_rng(21)
    assert sum("no direction" in verdicts(noise(draw, 60)) for _ in range(50)) == 50


def test_a_direction_of_a_half_is_seen_and_seldom_called_noise():
    draw, runs = np.random.default_rng(22), 200
    seen = [
        list(verdicts(GradientSignal(r, 2.0, False) for r in draw.uniform(-0.5, 1.5, size=60).clip(-1, 1)))[-1]
        for _ in range(runs)
    ]
    assert seen.count("acts") >= 0.95 * runs
    assert seen.count("no direction") == 0


def test_a_term_that_collapses_before_it_shows_a_direction_vanished():
    rollouts = [GradientSignal(0.1 * (-1) ** n, 2.0, False) for n in range(6)]
    said = list(verdicts([*rollouts, *[CONSTANT] * ENOUGH]))
    assert said[-2:] == ["early", "vanished"]
    assert list(verdicts([*rollouts, *[CONSTANT] * ENOUGH, rollouts[0]]))[-1] == "early"


def test_a_term_that_acted_keeps_its_verdict_when_it_has_done_its_work():
    assert list(verdicts([*[GradientSignal(1.0, 2.0, False)] * 8, *[CONSTANT] * 30]))[-1] == "acts"


def test_mean_error_and_ratio_are_those_of_the_textbook():
    found = fed(1.0, 2.0, 6.0).estimates()["x"]
    assert (found.count, found.mean, found.noise) == (3, 3.0, 2.0)
    assert found.error == pytest.approx((7.0 / 3.0) ** 0.5)
    assert (found.ratio, found.ratio_error) == pytest.approx((3.0, (7.0 / 3.0) ** 0.5))


def test_a_state_is_json_and_goes_on_as_if_nothing_had_been():
    whole, first, again = fed(1.0, 2.0, 6.0), fed(1.0, 2.0), SignalToNoiseTracker()
    again.restore(json.loads(json.dumps(first.state())))
    again.add({"x": GradientSignal(6.0, 2.0, False)})
    assert again.estimates() == whole.estimates()
