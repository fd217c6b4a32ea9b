"""Adaptive KL coefficient against trl's rule, written again."""

import math

import numpy as np
import pytest

from stratagem.base.consent.table import allow
from stratagem.learn.kl_controller import AdaptiveKLSettings, KLController, read_kl_rule


class Theirs:
    """AdaptiveKLController of trl 0.11."""

    def __init__(self, start, target, horizon):
        self.value, self.target, self.horizon = start, target, horizon

    def update(self, current, n_steps):
        error = np.clip(current / self.target - 1, -0.2, 0.2)
        self.value *= 1 + error * n_steps / self.horizon


@pytest.mark.parametrize(("start", "target", "horizon"), [(0.2, 6.0, 10_000), (0.05, 1.5, 300)])
def test_the_coefficient_is_that_of_trl(start, target, horizon):
    ours, theirs = (
        KLController(AdaptiveKLSettings(initial_kl_coef=start, target_kl=target, num_decisions=horizon)),
        Theirs(start, target, horizon),
    )
    for kl, decisions in ((0.0, 100), (7.0, 100), (6.3, 97), (400.0, 500), (-2.0, 10), (5.9, 100)):
        ours.update(kl, decisions)
        theirs.update(kl, decisions)
        assert ours.coefficient == pytest.approx(theirs.value, rel=1e-12)


def test_below_its_target_the_paper_s_setting_falls_by_a_fifth_of_a_percent_a_batch():
    controller = KLController(AdaptiveKLSettings())
    for _ in range(1500):
        controller.update(0.1, 100)
    assert controller.coefficient == pytest.approx(0.2 * 0.998**1500)


def test_a_batch_of_many_horizons_does_not_turn_the_penalty_into_a_reward():
    controller = KLController(AdaptiveKLSettings(num_decisions=100))
    controller.update(0.1, 1000)
    assert controller.coefficient == 0.1


def test_the_penalty_is_what_the_policy_says_more_often_than_the_reference():
    controller = KLController(AdaptiveKLSettings(initial_kl_coef=0.5))
    found = controller.penalty(np.array([-1.0, -3.0]), np.array([-2.0, -2.0]))
    assert found.tolist() == [-0.5, 0.5]


@pytest.mark.parametrize(
    ("settings", "kl"), [(AdaptiveKLSettings(target_kl=None), 50.0), (AdaptiveKLSettings(), math.nan)]
)
def test_without_a_target_or_a_figure_the_coefficient_stays(settings, kl):
    controller = KLController(settings)
    controller.update(kl, 100)
    assert controller.coefficient == 0.2


def test_a_restored_controller_goes_on():
    whole, broken = KLController(AdaptiveKLSettings()), KLController(AdaptiveKLSettings())
    for controller in (whole, broken):
        controller.update(9.0, 100)
    resumed = KLController(AdaptiveKLSettings())
    resumed.restore(broken.state())
    for controller in (whole, resumed):
        controller.update(0.5, 100)
    assert resumed.state() == whole.state() != KLController(AdaptiveKLSettings()).state()


@pytest.mark.parametrize(("kl", "factor"), [(9.0, 2.0), (8.99, 1.0), (6.0, 1.0), (4.01, 1.0), (4.0, 0.5), (0.0, 0.5)])
def test_doubling_follows_section_4_of_the_paper_of_ppo(kl, factor):
    settings = AdaptiveKLSettings(controller=read_kl_rule("doubling"), target_kl=6.0, max_error=9.0)
    controller = KLController(settings)
    controller.update(kl, 1)
    assert controller.coefficient == pytest.approx(0.2 * factor)


def test_doubling_needs_a_clip_range_that_shows_it_the_error():
    with pytest.raises(ValueError, match=r"`max_error` must be at least 0\.5"):
        AdaptiveKLSettings(controller=read_kl_rule("doubling"))


def test_a_rule_of_a_file_adapts_the_coefficient(tmp_path, monkeypatch):
    """It halves whatever the error is."""
    (tmp_path / "kl.py").write_text(
        "from dataclasses import dataclass\nfrom stratagem.learn.kl_controller import KLRule\n\n\n"
        "@dataclass(frozen=True)\nclass Halving(KLRule):\n    by: float = 0.5\n\n"
        "    def factor(self, error, share):\n        return self.by\n",
    )
    monkeypatch.chdir(tmp_path)
    allow("kl.py")
    controller = KLController(AdaptiveKLSettings(controller="kl.py:Halving(by=0.25)"))
    controller.update(100.0, 10)
    assert controller.coefficient == 0.05
