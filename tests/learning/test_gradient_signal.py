"""The gradient of each reward term against its noise: what is shared or unrelated is told from what acts."""

import random
from dataclasses import replace

import pytest
import torch

from stratagem.base.errors import BadParameter
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.gradient_signal import gradients, measure_signals
from stratagem.learn.learner import Learner
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.signal_to_noise import GradientSignal, SignalToNoiseTracker

PROMPTS = [(5, 9, 40, last) for last in (7, 11, 13, 17, 19, 23)]
SAYABLE = (30, 31, 32)
GROUP = 4


def adapted(kind):
    """A policy with an adapter that does something, and a loss whose gradient is the sum of A log pi."""
    lm = load(kind)
    add_adapter(lm, "one", 4, 8, seed=1)
    weights = adapter_parameters(lm, "one")
    torch.manual_seed(2)
    with torch.no_grad():
        for weight in weights:
            weight += 0.1 * torch.randn_like(weight)
    loss = PolicyGradient(normalize_by="divisor")
    return Learner(
        Policy(lm, max_tokens_per_microbatch=40), loss, Optimizer(weights, OptimizerSettings(), 9), adapter="one"
    )


@pytest.fixture(scope="module")
def learner():
    return adapted("tiny")


def example(prompt, said):
    return Example(tokens=(*prompt, said), loss_positions=(4,), allowed=(SAYABLE,))


def played(learner, rng):
    """A group of rollouts of one token for each prompt, drawn from what the policy itself gives to three tokens."""
    asked = [example(prompt, token) for prompt in PROMPTS for token in SAYABLE]
    weights = learner.outputs(asked).logprobs.exp().reshape(-1, len(SAYABLE)).tolist()
    pairs = zip(PROMPTS, weights, strict=True)
    return [example(prompt, rng.choices(SAYABLE, share)[0]) for prompt, share in pairs for _ in range(GROUP)]


def centred(numbers):
    """Less the mean of their group."""
    means = [sum(numbers[start : start + GROUP]) / GROUP for start in range(0, len(numbers), GROUP)]
    return [number - means[place // GROUP] for place, number in enumerate(numbers)]


def credited(examples, **terms):
    """With an advantage that is the sum of these terms, and every group dealt into halves."""
    rows = zip(examples, *(centred(column) for column in terms.values()), strict=True)
    made = []
    for number, (one, *shares) in enumerate(rows):
        columns = {f"term/{name}": (share,) for name, share in zip(terms, shares, strict=True)}
        row = {"half": float(number % 2), "divisor": 1.0}
        made.append(replace(one, columns={**columns, "advantage": (sum(shares),)}, row=row))
    return made


def batch(learner, rng):
    examples = played(learner, rng)
    return credited(
        examples,
        shared=[0.5] * len(examples),
        unrelated=[rng.gauss(0.0, 3.0) for _ in examples],
        said=[1.0 if one.tokens[-1] == SAYABLE[0] else -1.0 for one in examples],
    )


@pytest.mark.runs
def test_shared_unrelated_and_acting_terms_are_told_apart(learner):
    rng, signals = random.Random(3), SignalToNoiseTracker()
    for _ in range(40):
        signals.add(measure_signals(learner, batch(learner, rng)))
    found = signals.estimates()
    assert {name: one.verdict for name, one in found.items()} == {
        "shared": "constant",
        "unrelated": "no direction",
        "said": "acts",
    }
    assert found["unrelated"].ratio < 0.1 < 0.5 < found["said"].ratio <= 1.0


@pytest.mark.parametrize("kind", ["tiny", "tiny-gemma", "tiny-qwen3.5"])
def test_the_halves_of_all_terms_add_up_to_the_learners_own_gradient(kind, monkeypatch):
    learner, kept = adapted(kind), []
    examples = batch(learner, random.Random(4))
    found = gradients(learner, examples)
    weights = learner.optimizer.weights
    assert all(weight.grad is None for weight in weights)
    monkeypatch.setattr(learner.optimizer, "step", lambda _loss: kept.extend(weight.grad for weight in weights) or 0.0)
    learner.update_once(examples)
    theirs = torch.cat([gradient.flatten() for gradient in kept])
    ours = sum(half for halves in found.values() for half in halves)
    assert theirs.norm() > 0.01
    torch.testing.assert_close(ours.float(), -theirs, atol=1e-4 * theirs.abs().max().item(), rtol=1e-3)


def test_the_figures_are_those_of_the_gradients(learner):
    examples = batch(learner, random.Random(5))
    first, second = gradients(learner, examples)["said"]
    found = measure_signals(learner, examples)["said"]
    assert found.dot == pytest.approx((first * second).sum().item())
    assert found.noise == pytest.approx(first.square().sum().item() + second.square().sum().item())
    assert measure_signals(learner, examples)["shared"] == GradientSignal(0.0, 0.0, True)


def test_a_batch_without_terms_is_not_measured_and_one_without_halves_is_refused(learner):
    plain = example(PROMPTS[0], 30).with_columns(advantage=(1.0,))
    assert measure_signals(learner, [plain]) == {}
    with pytest.raises(BadParameter, match="row `half`"):
        measure_signals(learner, [plain.with_columns(**{"term/pay": (1.0,)})])


def test_a_term_that_only_some_examples_have_is_nothing_in_the_others(learner):
    examples = batch(learner, random.Random(6))
    bare = [replace(one, columns={"advantage": (0.0,)}) for one in examples]
    whole, few = (measure_signals(learner, some)["said"] for some in ([*examples, *bare], examples))
    assert (whole.dot, whole.noise) == pytest.approx((few.dot, few.noise), rel=1e-4)
