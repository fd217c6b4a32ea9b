"""Mean gradient of each KL estimator, summed over all replies of a policy."""

import pytest
import torch

from stratagem.learn.losses.policy_gradient import EXTREME, KL_ESTIMATORS, k3, one_sided, ratio

WEIGHTS = torch.tensor([0.3, -1.2, 0.9, 0.1], dtype=torch.float64)
REFERENCE = torch.log_softmax(torch.tensor([1.0, 0.2, -0.4, 0.3], dtype=torch.float64), 0)


def policy():
    weights = WEIGHTS.clone().requires_grad_(True)
    return weights, torch.log_softmax(weights, 0)


def mean_gradient(penalty):
    """The gradient of a penalty on average over the policy's own samples."""
    weights, said = policy()
    return torch.autograd.grad((said.exp().detach() * penalty(said)).sum(), weights)[0]


def gradient_of(divergence):
    weights, said = policy()
    return torch.autograd.grad(divergence(said), weights)[0]


def reverse(said):
    return (said.exp() * (said - REFERENCE)).sum()


def forward(said):
    return (REFERENCE.exp() * (REFERENCE - said)).sum()


@pytest.mark.parametrize(
    ("name", "divergence"),
    [
        ("k1", lambda said: 0.0 * said.sum()),
        ("k2", reverse),
        ("k3", forward),
        ("one_sided", lambda said: (said.exp() * (said > REFERENCE)).sum()),
    ],
)
def test_the_gradient_of_a_penalty_is_what_its_docstring_says(name, divergence):
    found = mean_gradient(lambda said: KL_ESTIMATORS[name](said, REFERENCE))
    assert torch.allclose(found, gradient_of(divergence), atol=1e-12)


@pytest.mark.parametrize("name", ["k1", "k3"])
def test_multiplied_by_the_ratio_the_gradient_is_that_of_the_divergence(name):
    found = mean_gradient(lambda said: ratio(said, said.detach()) * KL_ESTIMATORS[name](said, REFERENCE))
    assert torch.allclose(found, gradient_of(reverse), atol=1e-12)


@pytest.mark.parametrize("name", ["k1", "k3"])
def test_the_value_on_average_is_the_divergence(name):
    _, said = policy()
    assert (said.exp() * KL_ESTIMATORS[name](said, REFERENCE)).sum().item() == pytest.approx(reverse(said).item())


def test_the_one_sided_penalty_leaves_what_became_less_likely_and_what_did_not_move():
    said = torch.tensor([-1.0, -1.0, -1.0], requires_grad=True)
    penalty = one_sided(said, torch.tensor([-2.0, -0.5, -1.0]))
    assert penalty.tolist() == [1.0, 0.0, 0.0]
    assert torch.autograd.grad(penalty.sum(), said)[0].tolist() == [1.0, 0.0, 0.0]


def test_near_one_k3_keeps_its_digits():
    small = torch.tensor([1e-3])
    assert k3(small, torch.zeros(1)).item() == pytest.approx(1e-6 / 2, rel=1e-3)


def test_a_ratio_is_cut_where_it_would_overflow():
    assert ratio(torch.tensor([900.0, 0.5]), torch.zeros(2)).tolist() == pytest.approx(
        [torch.tensor(EXTREME).exp().item(), 1.6487213]
    )
