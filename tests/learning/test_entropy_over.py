"""A bonus for the entropy over the legal labels alone, while the policy is over the whole vocabulary."""

import torch

from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy

PROMPT, LEGAL = (5, 9, 70, 31, 8), (40, 41)


def learner(entropy):
    lm = load("tiny")
    add_adapter(lm, "one", 4, 8.0, seed=1)
    optimizer = Optimizer(adapter_parameters(lm, "one"), OptimizerSettings(learning_rate=1e-2), 99)
    return Learner(Policy(lm), PolicyGradient(entropy_coef=entropy), optimizer, adapter="one")


def example(over=(LEGAL,), token=40):
    return Example(tokens=(*PROMPT, token), loss_positions=(5,), columns={"advantage": (0.0,)}, entropy_over=over)


def probabilities(one):
    with torch.no_grad(), active(one.policy.lm, "one"):
        logits = one.policy.lm.model(input_ids=torch.tensor([PROMPT])).logits[0, -1]
    return torch.softmax(logits.float(), -1)


def entropy(shares):
    return float(-(shares * shares.log()).sum())


def test_it_is_that_of_the_labels_renormalised():
    one = learner(0.0)
    every = probabilities(one)
    few = every[list(LEGAL)]
    found = one.outputs([example(), example(over=()), example(token=60)]).entropies.tolist()
    assert abs(found[0] - entropy(few / few.sum())) < 1e-5
    assert abs(found[1] - entropy(every)) < 1e-4
    assert found[2] == found[0]
    said = one.outputs([example()]).logprobs.item()
    assert abs(said - float(every[40].log())) < 1e-5


def test_the_bonus_evens_the_labels_out_and_gives_nothing_to_the_rest():
    narrow, wide = learner(1.0), learner(1.0)
    before = probabilities(narrow)
    for _ in range(20):
        narrow.update_once([example()])
        wide.update_once([example(over=())])
    evened, flattened = probabilities(narrow), probabilities(wide)
    shares = evened[list(LEGAL)] / evened[list(LEGAL)].sum()
    assert abs(float(before[40] / before[list(LEGAL)].sum()) - 0.5) > 0.05
    assert abs(float(shares[0]) - 0.5) < 0.03
    assert entropy(flattened) > entropy(evened) + 0.1
