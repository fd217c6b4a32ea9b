"""Runs and steps that ranks and one process make alike."""

import torch

from small_recipes import FORKED, LEARNT, RECIPES
from stratagem.language.models.load import load
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.catalogue import read_loss
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.learn.sharded import ShardedOptimizer, ShardedPolicy
from stratagem.playing.workers.ranks import ranks_of_plan

SMALL = {"max_tokens_per_microbatch": 64}
"""So that a batch has several packs."""
KL = {"type": "policy_gradient", "kl_coef": 0.1, "kl_estimator": "k3"}
ALL = {**SMALL, "train": "all", "reference": {"type": "copy"}}
STEPPED = {
    **RECIPES["grpo"],
    **ALL,
    "evaluate_every": 12,
    "checkpoint_every": 1,
    "grpo": {"iterations": 12, "loss": KL, **FORKED},
}
"""GRPO of all weights, with a checkpoint after every step."""
ADAPTERS = {
    "sepo": {**SMALL, "sft": {**RECIPES["sepo"]["sft"], "adapter": {"rank": 4}}},
    **dict.fromkeys(("grpo", "league", "scopal", "shapellm"), SMALL),
    "reinforce": {**SMALL, "overlap": 1},
}
"""Recipes of adapters, by algorithm."""
WHOLE = {
    "sepo": {**ALL, "sepo": {"iterations": 3, "group_size": 2, "groups_per_batch": 1, "loss": KL}},
    "grpo": {**ALL, "grpo": {"iterations": 3, "loss": KL, **FORKED}},
    "reinforce": {**SMALL, "train": "all"},
    "scopal": {**SMALL, "train": "all", "checkpoint_every": 1, "bc": LEARNT, "kto": LEARNT},
    "kl_sft": SMALL,
}
"""Recipes of all weights, by algorithm."""


def settings_of(name, *, whole):
    return {**RECIPES[name], **(WHOLE if whole else ADAPTERS)[name]}


def example(number, loss):
    columns = {
        "policy_gradient": {"advantage": (1.0 - number % 3, 0.5), OLD_LOGPROBS: (-3.0 - 0.1 * number, -4.0)},
        "kl_targets": {"target_entropy": (-0.56, 0.0)},
    }
    rows = {
        "kto": {"desirable": float(number % 2), "kl": float(number > 7)},
        "dpo": {"chosen": float(number % 2)},
    }
    return Example(
        tokens=tuple(range(5 + number, 45 + number)),
        loss_positions=(38, 39),
        columns=columns.get(loss, {}),
        row=rows.get(loss, {}),
        pair=number // 2 if loss == "dpo" else None,
        targets=({9: 0.25, 11: 0.75}, {7: 1.0}) if loss == "kl_targets" else (),
    )


LOSSES = {"policy_gradient": KL, **{name: name for name in ("cross_entropy", "kto", "dpo", "kl_targets")}}


def gradient(loss):
    """The gradient of one step over five packs, as the change of all weights by plain descent, and its report."""
    lm, start = load("tiny"), load("tiny")
    before = [weight.detach().clone() for weight in lm.model.parameters()]
    lm.model.requires_grad_(True)
    with torch.no_grad():  # a reference that differs from the policy
        for number, weight in enumerate(start.model.parameters()):
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(number)), alpha=0.01)
    settings = OptimizerSettings(method="sgd", learning_rate=1.0, max_grad_norm=float("inf"))
    policy, reference = Policy(lm, max_tokens_per_microbatch=80), Policy(start, max_tokens_per_microbatch=80)
    optimizer = Optimizer(list(lm.model.parameters()), settings, 1)
    if (ranks := ranks_of_plan()) is not None:
        policy, reference = ShardedPolicy(policy, ranks), ShardedPolicy(reference, ranks, is_trained=False)
        optimizer = ShardedOptimizer(policy, settings, 1)
    made = read_loss(LOSSES[loss]).value
    learner = Learner(policy, made, optimizer, adapter=None, reference=reference)
    report = learner.update_once([example(number, loss) for number in range(10)])
    policy.gather_weights()
    return [was - now.detach() for was, now in zip(before, lm.model.parameters(), strict=True)], report
