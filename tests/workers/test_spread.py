"""Gradients of packs by workers: the same bits as in one process, and the same steps of a run."""

from contextlib import closing

import pytest
import torch
from working import trained

from small_recipes import RECIPES
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.catalogue import read_loss
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.spread import add_gradients
from stratagem.playing.workers.base import InProcess
from stratagem.playing.workers.plan import change_plan
from stratagem.playing.workers.processes import Processes

pytestmark = pytest.mark.runs

EXAMPLES = [
    Example(
        tokens=tuple(range(5 + number, 45 + number)),
        loss_positions=(38, 39),
        columns={"advantage": (1.0 - number, 0.5), "sampler_logprobs": (-1.0, -2.0)},
    )
    for number in range(4)
]


class Counting(InProcess):
    """Other workers, whose units with gradients are counted."""

    separate = True

    def __init__(self, inner):
        self.inner, self.num_gradients = inner, 0

    def put(self, folder):
        return self.inner.put(folder)

    def run(self, work, items):
        self.num_gradients += len(items) if work.__module__ == "stratagem.learn.spread" else 0
        return self.inner.run(work, items)


def stepped(workers, kl_coef, model="tiny", *, fp32_head=False):
    """The gradients, the report and the weights of a step over several packs."""
    lm = load(model)
    add_adapter(lm, "policy", rank=2, alpha=4, seed=1)
    weights = adapter_parameters(lm, "policy")
    for number, weight in enumerate(weights):
        weight.data.normal_(std=0.05, generator=torch.Generator().manual_seed(number))
    loss = read_loss(
        {"type": "policy_gradient", "kl_coef": kl_coef, "kl_estimator": "k3"} if kl_coef else "policy_gradient"
    )
    learner = Learner(
        Policy(lm, max_tokens_per_microbatch=80, fp32_head=fp32_head),
        loss.value,
        Optimizer(weights, OptimizerSettings(learning_rate=1e-3), 1),
        adapter="policy",
    )
    with change_plan(workers=workers, num_threads=1):
        report = learner.update_once(EXAMPLES)
    return [weight.detach().clone() for weight in weights], report


@pytest.mark.parametrize("kl_coef", [pytest.param(0.0, marks=pytest.mark.long), 0.1])
def test_gradients_of_workers_equal_those_of_one_process(two, kl_coef):
    alone, report = stepped(InProcess(), kl_coef)
    workers = Counting(two)
    shared, same = stepped(workers, kl_coef)
    assert workers.num_gradients >= 2
    assert all(torch.equal(one, other) for one, other in zip(alone, shared, strict=True))
    assert same == report
    assert report.grad_norm > 0.0


class Backwards(Counting):
    """Work in this process, of which the last unit is ready first."""

    def run(self, work, items):
        return reversed(list(InProcess.run(self, work, items)))


def test_gradients_are_added_in_the_order_of_the_packs():
    """The order in which packs are ready differs from run to run, and floating-point sums depend on their order."""
    alone, report = stepped(InProcess(), 0.1)
    with closing(Processes(1)) as unused:  # no process begins: it keeps the files
        shared, same = stepped(Backwards(unused), 0.1)
    assert all(torch.equal(one, other) for one, other in zip(alone, shared, strict=True))
    assert same == report


def test_workers_compute_the_head_in_the_format_of_the_policy(two):
    alone, report = stepped(InProcess(), 0.1, "tiny+dtype=bf16", fp32_head=True)
    shared, same = stepped(two, 0.1, "tiny+dtype=bf16", fp32_head=True)
    assert all(torch.equal(one, other) for one, other in zip(alone, shared, strict=True))
    assert same == report


@pytest.mark.long
def test_a_run_with_gradients_by_workers_equals_one_in_process(two, tmp_path):
    settings = {**RECIPES["grpo"], "max_tokens_per_microbatch": 1, "games": ["kuhn(hands=1)", "ipd(rounds=1)"]}
    alone = trained(tmp_path / "alone", "grpo", **settings)
    workers = Counting(two)
    with change_plan(workers=workers):
        assert trained(tmp_path / "work", "grpo", **settings) == alone
    assert workers.num_gradients >= 2


def test_gradients_are_added_as_a_backward_pass_adds_them():
    weight = torch.zeros(2, requires_grad=True)
    for gradient in (torch.tensor([1.0, 2.0]), None, torch.tensor([0.5, -2.0])):
        add_gradients([weight], [gradient])
    assert weight.grad.tolist() == [1.5, 0.0]
