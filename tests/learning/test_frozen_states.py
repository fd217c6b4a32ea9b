"""States of a frozen reference: read once for a pack, never stale, and within their bound."""

import numpy as np
import pytest
import torch

from stratagem.language.models.adapters import active, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.frozen_states import FrozenStates
from stratagem.learn.learner import Learner
from stratagem.learn.losses.catalogue import LOSSES
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.packing import Pack, TextBranch
from stratagem.learn.policy import Policy

EXAMPLES = [
    Example(tokens=(3, 4, 5, *tail), loss_positions=(4,), columns={"advantage": (1.0,)}) for tail in ((6, 7), (8, 9))
]


@pytest.fixture
def policy():
    lm = load("tiny")
    add_adapter(lm, "one", 4, 8.0)
    return Policy(lm)


@pytest.fixture
def read(policy, monkeypatch):
    """Return the packs that were read without a gradient."""
    packs = []
    states = policy.hidden_states
    monkeypatch.setattr(
        policy,
        "hidden_states",
        lambda pack, nodes: (None if torch.is_grad_enabled() else packs.append(pack)) or states(pack, nodes),
    )
    return packs


def frozen(policy, examples=EXAMPLES, adapter=None):
    (pack,) = policy.packs(examples)
    with torch.no_grad(), active(policy.lm, adapter):
        return policy.outputs(pack, examples, is_frozen=True).logprobs


def fresh(policy, examples=EXAMPLES, adapter=None):
    (pack,) = policy.packs(examples)
    with torch.no_grad(), active(policy.lm, adapter):
        return policy.outputs(pack, examples).logprobs


def test_a_reference_reads_a_pack_once_in_a_training(policy, read):
    weights = [weight for name, weight in policy.lm.model.named_parameters() if ".one." in name]
    optimizer = Optimizer(weights, OptimizerSettings(learning_rate=0.1), 9)
    learner = Learner(policy, LOSSES["policy_gradient"](kl_estimator="k3", kl_coef=0.5), optimizer, adapter="one")
    gaps = [learner.update(EXAMPLES).reference_gap for _ in range(3)]
    assert len(read) == 1
    assert gaps[0] < gaps[1] < gaps[2]


def test_a_reference_of_the_trained_weights_is_read_in_every_step(policy, read):
    weights = list(policy.lm.model.parameters())
    for weight in weights:
        weight.requires_grad_(True)
    optimizer = Optimizer(weights, OptimizerSettings(learning_rate=1e-3), 9)
    learner = Learner(policy, LOSSES["policy_gradient"](kl_estimator="k3", kl_coef=0.5), optimizer, adapter=None)
    for _ in range(2):
        assert learner.update(EXAMPLES).reference_gap < 1e-5
    assert len(read) == 2
    assert not len(policy.frozen_states)


def test_known_states_are_those_of_a_pass_to_the_bit(policy, read):
    first, again = frozen(policy), frozen(policy)
    assert len(read) == 1
    assert torch.equal(first, again)
    assert torch.equal(first, fresh(policy))


@pytest.mark.parametrize("name", ["embed_tokens.weight", "layers.3.mlp.down_proj"])
def test_changed_weights_are_read_again(policy, name):
    before = frozen(policy)
    with torch.no_grad():
        for own, weight in policy.lm.model.named_parameters():
            if name in own and "lora" not in own:
                weight.mul_(1.5)
    assert not torch.equal(frozen(policy), before)
    assert torch.equal(frozen(policy), fresh(policy))


def test_an_adapter_is_another_reference(policy):
    base = frozen(policy)
    with torch.no_grad():
        for own, weight in policy.lm.model.named_parameters():
            if "lora_B" in own:
                weight.add_(0.1)
    assert torch.equal(frozen(policy), base)
    adapted = frozen(policy, adapter="one")
    assert not torch.allclose(adapted, base)
    assert torch.equal(adapted, fresh(policy, adapter="one"))


def pack_of(tokens=(1, 2, 3, 4), branches=((0, 3, 0), (3, 4, 2))):
    return Pack((0,), tokens, tuple(TextBranch(*branch) for branch in branches), ())


WEIGHT = torch.ones(2)


@pytest.mark.parametrize(
    ("pack", "nodes", "weights"),
    [
        (pack_of(tokens=(1, 2, 3, 5)), (2, 3), [WEIGHT]),
        (pack_of(branches=((0, 3, 0), (3, 4, 1))), (2, 3), [WEIGHT]),
        (pack_of(branches=((0, 2, 0), (2, 4, 2))), (2, 3), [WEIGHT]),
        (pack_of(), (3, 2), [WEIGHT]),
        (pack_of(), (2, 3), [WEIGHT.clone()]),
        (pack_of(), (2, 3), []),
    ],
)
def test_whatever_the_states_depend_on_makes_them_others(pack, nodes, weights):
    known, made = FrozenStates(), []

    def read():
        made.append(torch.full((2, 3), float(len(made))))
        return made[-1]

    first = known.find(pack_of(), (2, 3), [WEIGHT], read)
    assert known.find(pack, nodes, weights, read) is made[1]
    assert known.find(pack_of(), (2, 3), [WEIGHT], read) is first
    assert len(made) == len(known) == 2


def test_the_least_recently_used_states_go_first():
    known, made = FrozenStates(limit=100), []

    def find(token):
        made.append(token)
        return known.find(pack_of(tokens=(token,)), (0,), [], lambda: made.append("read") or torch.zeros(10))

    for token in (1, 2, 1, 3, 1, 2):
        find(token)
    assert len(known) == 2
    assert made == [1, "read", 2, "read", 1, 3, "read", 1, 2, "read"]


def test_new_weights_in_the_memory_of_old_ones_are_read():
    """As an adapter that is loaded again may stand where the old one stood, with as many changes in place."""
    numbers, known, made = np.ones(2, dtype=np.float32), FrozenStates(), []

    def read():
        made.append(torch.full((1,), float(len(made))))
        return made[-1]

    for _ in range(2):
        weight = torch.from_numpy(numbers)
        assert known.find(pack_of(), (0,), [weight], read) is made[-1]
        assert known.find(pack_of(), (0,), [weight], read) is made[-1]
    assert len(made) == 2
    assert len(known) == 1
