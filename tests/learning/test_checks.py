"""Every check stays silent over a sound step, and each is provoked by the fault that it is there for."""

import math
import warnings

import pytest
import torch

from stratagem.learning.checks import CHECKS, CheckFailed, Seen, TrainingWarning, Watch
from stratagem.learning.example import Example
from stratagem.learning.learner import Learner, Report
from stratagem.learning.losses.policy_gradient import PolicyGradient
from stratagem.learning.optimiser import Optimiser, OptimiserSettings
from stratagem.learning.policy import Policy
from stratagem.models.adapters import adapter_parameters, add_adapter
from stratagem.models.load import load


def report(**changes):
    metrics = {"ratio_min": 0.9, "ratio_max": 1.1, "reference_kl": 0.01} | changes.pop("metrics", {})
    return Report(
        **{"loss": 0.1, "norm": 0.5, "rate": 1e-3, "num_examples": 4, "num_tokens": 9, "num_read": 50} | changes,
        metrics=metrics,
    )


def seen(**changes):
    columns = {"sampler_logprobs": (-1.0, -2.0), "old_logprobs": (-1.01, -1.99)}
    example = Example(tokens=(1, 2, 3), taught=(1, 2), columns=columns | changes.pop("columns", {}))
    counts = {"groups": 10, "groups_without_variance": 2, "groups_of_one": 0} | changes.pop("counts", {})
    return Seen(**{"step": 9, "report": report(), "examples": [example], "steps_a_batch": 2} | changes, counts=counts)


FAULTS = {
    "not_finite": {"report": report(loss=math.nan)},
    "no_gradient": {"report": report(norm=0.0)},
    "mismatch": {"columns": {"old_logprobs": (-1.2, -1.8)}},
    "alike": {"counts": {"groups_without_variance": 6}},
    "inert_clip": {"report": report(metrics={"ratio_min": 1.0, "ratio_max": 1.0})},
    "idle_reference": {"report": report(metrics={"reference_kl": 0.0})},
}


def test_every_check_has_a_fault():
    assert FAULTS.keys() == CHECKS.keys()


def test_a_sound_step_is_not_told_of():
    assert Watch(strict=True).look(seen()) == {}


@pytest.mark.parametrize("name", CHECKS)
def test_a_fault_is_told_once_and_counted_and_stops_a_strict_run(name):
    watch = Watch()
    faulty = seen(**FAULTS[name])
    with pytest.warns(TrainingWarning, match=name):
        assert watch.look(faulty).keys() == {name}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert watch.look(faulty).keys() == {name}
    assert watch.counts == dict.fromkeys(CHECKS, 0) | {name: 2}
    with pytest.raises(CheckFailed, match=name):
        Watch(strict=True).look(seen(**FAULTS[name]))


@pytest.fixture(scope="module")
def lm():
    made = load("tiny")
    add_adapter(made, "one", 4, 8, seed=1)
    return made


def steps(lm, adapter, trained, count=5):
    """Reports of a few real steps, with the adapter that is said to be at work and the weights that are moved."""
    settings = OptimiserSettings(rate=1e-3)
    optimiser = Optimiser(trained, settings, count)
    learner = Learner(Policy(lm), PolicyGradient(kl="one_sided", beta=0.1), optimiser, adapter=adapter)
    example = Example(tokens=(5, 9, 40, 7, 30), taught=(2, 3, 4), columns={"advantage": (1.0, -1.0, 0.5)})
    watch, told = Watch(), {}
    for number in range(count):
        known = learner.prepared([example])
        told |= watch.look(Seen(step=number, report=learner.update(known), examples=known))
    return told


def test_a_learner_whose_adapter_is_at_work_is_sound(lm):
    assert steps(lm, "one", adapter_parameters(lm, "one")) == {}


def test_an_adapter_that_is_trained_and_never_applied_is_noticed(lm):
    stray = [torch.nn.Parameter(torch.zeros(3))]
    lm.model.requires_grad_(False)
    for weight in adapter_parameters(lm, "one"):
        weight.requires_grad_(True)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "one"):
            weight.zero_()
    with pytest.warns(TrainingWarning, match="exactly what its reference says"):
        assert "idle_reference" in steps(lm, "one", stray)
