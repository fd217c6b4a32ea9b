"""Each loss, in one step of the real learner, raises the reply that it is to raise and lowers the other.

A reply is one token out of two that are allowed after one prompt, so its probability is all that a step can change.
The learner's adapter is some way from its reference, the base.
"""

from dataclasses import replace

import pytest
import torch

from stratagem.algorithms.shapellm.language_seat import ValueHead
from stratagem.games.key import Key
from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.catalogue import LOSSES, read_loss
from stratagem.learn.losses.kto import mismatch_replies
from stratagem.learn.losses.policy_gradient import KL_ESTIMATORS, PolicyGradient
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy

pytestmark = pytest.mark.runs

PROMPT, RIGHT, WRONG = (5, 9, 40, 61), 50, 70
UP, DOWN = 1.0, -1.0


def learner_of(loss, *, head=False, shake=0.02, method="adamw", learning_rate=1e-4):
    """A learner with one step to take, whose policy has left its reference."""
    lm = load("tiny")
    add_adapter(lm, "one", 4, 8, seed=1)
    torch.manual_seed(2)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "one"):
            weight += shake * torch.randn_like(weight)
    value_head = ValueHead(lm) if head else None
    weights = [*adapter_parameters(lm, "one"), *(value_head.parameters() if value_head else ())]
    optimizer = Optimizer(weights, OptimizerSettings(method=method, learning_rate=learning_rate), 1)
    return Learner(Policy(lm), loss, optimizer, adapter="one", value_head=value_head, key=Key(5))


def reply(token, *, row=None, pair=None, targets=(), **columns):
    """One sampled token after the prompt, with what is known of it."""
    return Example(
        tokens=(*PROMPT, token),
        loss_positions=(len(PROMPT),),
        allowed=((RIGHT, WRONG),),
        columns={name: (value,) for name, value in columns.items()},
        targets=targets,
        row=row or {},
        pair=pair,
    )


def chance(learner, adapter=True):
    """Compute the probability of the right reply."""
    return learner.outputs([reply(RIGHT)], adapter).logprobs.exp().item()


def moved(learner, examples):
    """Measure the change of the right reply's probability over a step."""
    before = chance(learner)
    learner.update_once(examples)
    return chance(learner) - before


def advantage(right, wrong, row=None, **columns):
    return [reply(token, row=row, advantage=a, **columns) for token, a in ((RIGHT, right), (WRONG, wrong))]


def by_steps(right, wrong):
    return advantage(right, wrong, row={"divisor": 2.0})


def with_values(right, wrong):
    return advantage(right, wrong, **{"return": 0.0, "old_value": 0.0})


def labelled(right, wrong):
    """One reply of each label; of a batch of one kind all are of that label."""
    rows = [{"desirable": float(label > 0), "kl": 0.0} for label in (right, wrong)]
    own = [reply(token, row=row) for token, row in zip((RIGHT, WRONG), rows, strict=True)]
    return [*own, *mismatch_replies(own)]


def paired(right, wrong):
    return [reply(token, pair=3, row={"chosen": float(a > 0)}) for token, a in ((RIGHT, right), (WRONG, wrong))]


def ended(right, wrong):
    return [reply(token, row={"advantage": a, "weight": 1.0}) for token, a in ((RIGHT, right), (WRONG, wrong))]


def said(right, wrong):
    """The target is the demonstration."""
    return [reply(RIGHT if right > wrong else WRONG)]


def aimed(right, wrong):
    target = {RIGHT: 0.999, WRONG: 0.001} if right > wrong else {RIGHT: 0.001, WRONG: 0.999}
    return [reply(RIGHT, targets=(target,), target_entropy=0.0)]


CASES = {
    "cross_entropy": said,
    "kl_targets": aimed,
    "policy_gradient": advantage,
    "sepo": by_steps,
    "grpo": advantage,
    "dr_grpo": by_steps,
    "dapo": advantage,
    "ppo": with_values,
    "kto": labelled,
    "dpo": paired,
    "spag": ended,
}
"""From the value of each reply to a batch; the value loss, which moves no reply, has a test of its own."""


def test_every_loss_has_a_direction_case():
    assert {*CASES, "value"} == set(LOSSES)


@pytest.mark.parametrize("sign", [UP, DOWN], ids=["up", "down"])
@pytest.mark.parametrize("name", CASES)
def test_a_step_raises_the_better_reply(name, sign):
    learner = learner_of(read_loss(name).value, head=name == "ppo")
    assert sign * moved(learner, CASES[name](sign, -sign)) > 1e-4


ALONE = ["policy_gradient", "sepo", "dr_grpo", "ppo", "spag"]


@pytest.mark.parametrize("sign", [UP, DOWN], ids=["up", "down"])
@pytest.mark.parametrize("name", ALONE)
def test_an_advantage_alone_moves_its_own_reply(name, sign):
    """The wrong reply has no advantage; the KL penalty is too small to turn the step."""
    learner = learner_of(read_loss(name).value, head=name == "ppo", shake=0.0)
    assert sign * moved(learner, CASES[name](sign, 0.0)[:1]) > 1e-4


@pytest.mark.parametrize("sign", [UP, DOWN], ids=["desirable", "undesirable"])
def test_kto_moves_a_reply_by_its_label_alone(sign):
    """Both examples are the right reply, under one label."""
    learner = learner_of(read_loss("kto").value)
    own = [reply(RIGHT, row={"desirable": float(sign > 0), "kl": 0.0})] * 2
    assert sign * moved(learner, [*own, *mismatch_replies(own)]) > 1e-4


@pytest.mark.parametrize("wanted", [5.0, -5.0])
@pytest.mark.parametrize("text", ["value", "value(clip_range=None)", "ppo"])
def test_a_step_moves_the_value_towards_the_return(text, wanted):
    learner = learner_of(read_loss(text).value, head=True)
    examples = advantage(0.0, 0.0, **{"return": wanted, "old_value": 0.0})
    before = learner.outputs(examples).values.mean().item()
    learner.update_once(examples)
    assert (learner.outputs(examples).values.mean().item() - before) * wanted > 0.0


def on_policy(learner):
    """Both replies, weighed by how likely the policy is to say them: what a batch without end would be."""
    right = chance(learner)
    return [reply(token, advantage=0.0, weight=w) for token, w in ((RIGHT, right), (WRONG, 1.0 - right))]


TOWARDS = {("one_sided", False): True, ("k1", False): False, ("k2", False): True, ("k3", False): True}
TOWARDS |= {(kind, True): True for kind in ("one_sided", "k1", "k2", "k3")}
"""By kind of penalty and whether it is multiplied by the ratio; as a loss k1 alone holds nothing back on average."""


def test_every_penalty_has_a_direction_case():
    assert {kind for kind, _ in TOWARDS} == set(KL_ESTIMATORS)


@pytest.mark.parametrize(("kind", "corrected"), TOWARDS)
def test_the_penalty_for_leaving_the_reference_leads_back_to_it(kind, corrected):
    """By a step along the gradient: AdamW would make a full step of the rounding that is all the gradient of k1."""
    loss = PolicyGradient(kl_estimator=kind, kl_coef=1.0, importance_corrected_kl=corrected, weighted=True)
    learner = learner_of(loss, method="sgd", learning_rate=0.1)
    home, before = chance(learner, None), chance(learner)
    assert abs(before - home) > 1e-3
    step = moved(learner, on_policy(learner))
    if TOWARDS[kind, corrected]:
        assert (home - before) * step > 1e-5
    else:
        assert abs(step) < 1e-5


def test_the_one_sided_penalty_holds_back_what_became_likelier_and_nothing_else():
    """In a batch of one reply: the likelier is made rarer, and the rarer, which is below the reference, stays."""
    learner = learner_of(PolicyGradient(kl_estimator="one_sided", kl_coef=1.0))
    likelier = chance(learner) > chance(learner, None)
    first, second = (RIGHT, WRONG) if likelier else (WRONG, RIGHT)
    assert moved(learner, [reply(second, advantage=0.0)]) == 0.0
    assert (moved(learner, [reply(first, advantage=0.0)]) < 0.0) == likelier


def test_the_penalty_of_spag_leads_back_to_the_policy_that_played():
    learner = learner_of(read_loss("spag(kl_coef=100)").value)
    home, before = chance(learner, None), chance(learner)
    batch = [replace(one, row={"advantage": 0.0, "weight": one.columns["weight"][0]}) for one in on_policy(learner)]
    assert (home - before) * moved(learner, batch) > 0.0


def test_the_bonus_for_entropy_evens_the_replies_out():
    learner = learner_of(PolicyGradient(entropy_coef=1.0))
    before = chance(learner)
    assert (0.5 - before) * moved(learner, advantage(0.0, 0.0)) > 0.0


def test_a_clipped_ratio_brings_no_gradient_and_one_beyond_the_other_bound_does():
    """The right reply has become likelier than the clip allows: a step up has no gradient, and a step down has one."""
    for sign, moves in ((UP, False), (DOWN, True)):
        learner = learner_of(PolicyGradient())
        old = learner.outputs([reply(RIGHT)]).logprobs.item() - 0.5
        step = moved(learner, [reply(RIGHT, advantage=sign, old_logprobs=old)])
        assert (sign * step > 1e-4) if moves else step == 0.0
