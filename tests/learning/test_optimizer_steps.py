"""Several steps on one batch: the forward pass that is spared, and where it is not."""

import pytest
import torch
from test_learner import alike, batch, made, sober, trained

from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.steps import TOLERANCE, take_steps


def sampled(learner, *, apart=0.0):
    """A batch with the sampler's log-probabilities, which may be apart from the trainer's."""
    examples = batch(1)
    rows = learner.outputs(examples).logprobs.split([len(one.loss_positions) for one in examples])
    return [
        one.with_columns(sampler_logprobs=tuple((row + apart).tolist()))
        for one, row in zip(examples, rows, strict=True)
    ]


def dealt(examples, number):
    """The parts, each with the number of its own examples as divisor."""
    parts = [examples[part::number] for part in range(number)]
    return [[one.with_row(divisor=float(len(part))) for one in part] for part in parts]


def plainly(learner, examples, number):
    """A pass over each part, and then the steps."""
    known = [learner.with_old_logprobs(part) for part in dealt(examples, number)]
    return [learner.update(part) for part in known]


def counted(learner, monkeypatch):
    """Examples that are read by the policy without gradient."""
    read, outputs = [], learner.outputs
    monkeypatch.setattr(learner, "outputs", lambda some, *rest: read.extend(some) or outputs(some, *rest))
    return read


@pytest.mark.parametrize(("apart", "num_read"), [(0.0, 0), (TOLERANCE / 20, 0), (10 * TOLERANCE, 3), (0.3, 3)])
def test_old_logprobs_are_read_only_where_the_sampler_has_others(monkeypatch, apart, num_read):
    ours, theirs = made(rate=1e-2), made(rate=1e-2)
    examples = sampled(ours, apart=apart)
    read = counted(ours, monkeypatch)
    found, plain = take_steps(ours, examples, 2), plainly(theirs, examples, 2)
    assert len(read) == num_read, "of the second part; the first is never read without gradient"
    for one, other in zip(found, plain, strict=True):
        assert one.grad_norm == pytest.approx(other.grad_norm, rel=2e-6)
        assert one.loss == pytest.approx(other.loss, rel=2e-6, abs=1e-6)
    assert found[1].metrics["ratio_max"] > 1.001, "a second step has a ratio of its own"
    if num_read:
        assert [sober(one) for one in found] == [sober(one) for one in plain]
        assert alike(trained(ours), trained(theirs))
    for one, other in zip(trained(ours), trained(theirs), strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_old_logprobs_of_a_step_with_dropout_know_no_dropout():
    ours, theirs = made(dropout=0.3), made(dropout=0.3)
    examples = sampled(ours)
    known = theirs.with_old_logprobs(examples)
    plain = [theirs.update(part) for part in dealt(known, 2)]
    assert [sober(one) for one in take_steps(ours, examples, 2)] == [sober(one) for one in plain]


def test_a_part_without_examples_is_no_step():
    learner = made()
    assert [report is None for report in take_steps(learner, sampled(learner)[:2], 3)] == [False, False, True]


@pytest.mark.parametrize("normalize_by", ["token", "example", "divisor"])
def test_steps_on_a_batch_that_is_given_twice_begin_as_the_step_on_it_once(normalize_by):
    """Every normalization is that of the part, as that of the entropy bonus is."""
    loss = PolicyGradient(normalize_by=normalize_by, entropy_coef=0.3)
    once, twice = made(loss=loss), made(loss=loss)
    examples = batch(3)
    whole = [one.with_row(divisor=14.0) for one in examples for _ in range(2)]
    first, second = take_steps(twice, whole, 2)
    expected = once.update_once(examples)
    assert first.loss == pytest.approx(expected.loss, rel=1e-5)
    assert first.grad_norm == pytest.approx(expected.grad_norm, rel=1e-5)
    assert second.num_examples == first.num_examples == 7
