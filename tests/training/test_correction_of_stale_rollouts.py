"""The gradient from rollouts of an older policy, with a known value: three actions, all drawn as often as expected.

The sampler mu = (1/2, 1/4, 1/4) draws four replies of one token, and the policy is pi = (.52, .27, .21) by now. The
rewards R = (1, 0, 3) have the mean J = 1.15 under pi. By hand: dJ/dtheta_k = pi_k (R_k - J), and for the divergence
from a reference, dKL/dtheta_k = pi_k (log pi_k/ref_k - KL).
"""

import math

import pytest
import torch

from stratagem.learn.batch import columns_of
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.losses.base import Outputs
from stratagem.learn.losses.catalogue import read_loss
from stratagem.training.online import with_sampler_logprobs

DRAWN = (0, 0, 1, 2)
SAMPLER = (0.5, 0.25, 0.25)
POLICY = (0.52, 0.27, 0.21)
REFERENCE = (0.3, 0.3, 0.4)
REWARDS = (1.0, 0.0, 3.0)
RETURN_GRADIENT = (-0.078, -0.3105, 0.3885)
KL = sum(p * math.log(p / q) for p, q in zip(POLICY, REFERENCE, strict=True))
KL_GRADIENT = tuple(p * (math.log(p / q) - KL) for p, q in zip(POLICY, REFERENCE, strict=True))


def ascent(loss, rewards, *, corrected):
    """The direction in which a step moves the logits of the three actions."""
    logits = torch.tensor(POLICY, dtype=torch.float64).log().requires_grad_()
    logprobs = logits.log_softmax(-1)[list(DRAWN)]
    baseline = sum(p * r for p, r in zip(SAMPLER, rewards, strict=True))
    examples = [
        Example(
            tokens=(7, action),
            loss_positions=(1,),
            columns={"advantage": (rewards[action] - baseline,), "sampler_logprobs": (math.log(SAMPLER[action]),)},
        )
        for action in DRAWN
    ]
    columns = columns_of(with_sampler_logprobs(examples) if corrected else examples, torch.device("cpu"))
    if not corrected:  # as the learner does for rollouts of its own
        columns.tokens[OLD_LOGPROBS] = logprobs.detach()
    reference = torch.tensor([math.log(REFERENCE[action]) for action in DRAWN])
    loss = read_loss(loss).value
    output = loss(Outputs(policy_logprobs=logprobs, reference_logprobs=reference), columns, loss.prepare(columns))
    (gradient,) = torch.autograd.grad(-output.loss, logits)
    return gradient.tolist()


def test_ratio_to_the_sampler_gives_the_gradient_of_the_present_policy():
    assert ascent("policy_gradient", REWARDS, corrected=True) == pytest.approx(RETURN_GRADIENT, abs=1e-6)


def test_gradient_without_the_ratio_is_that_of_another_distribution():
    found = ascent("policy_gradient", REWARDS, corrected=False)
    assert found == pytest.approx((-0.125, -0.3125, 0.4375), abs=1e-6)
    assert max(abs(a - b) for a, b in zip(found, RETURN_GRADIENT, strict=True)) > 0.04


def test_corrected_kl_penalty_has_the_gradient_of_the_divergence():
    loss = "policy_gradient(kl_estimator=k1, kl_coef=1.0, importance_corrected_kl=True)"
    found = ascent(loss, (0.0, 0.0, 0.0), corrected=True)
    assert found == pytest.approx([-value for value in KL_GRADIENT], abs=1e-6)
    assert found != pytest.approx(ascent(loss, (0.0, 0.0, 0.0), corrected=False), abs=0.01)
