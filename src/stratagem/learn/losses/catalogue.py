"""Registry of losses by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from stratagem.base.named import NamedObject, RegistryReader, in_a_recipe
from stratagem.base.registry import Registry
from stratagem.learn.losses.base import Loss
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.losses.dpo import DPO
from stratagem.learn.losses.kl_targets import KLTargets
from stratagem.learn.losses.kto import KTO
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.learn.losses.ppo import PPO
from stratagem.learn.losses.spag import SPAG
from stratagem.learn.losses.value import Value

LOSSES: dict[str, Callable[..., Loss]] = {
    "cross_entropy": CrossEntropy,
    "kl_targets": KLTargets,
    "policy_gradient": PolicyGradient,
    "value": Value,
    "ppo": PPO,
    "kto": KTO,
    "dpo": DPO,
    "spag": SPAG,
    "sepo": partial(PolicyGradient, kl_estimator="one_sided", kl_coef=0.1, normalize_by="divisor"),
    "grpo": partial(PolicyGradient, kl_estimator="k3", kl_coef=0.04, normalize_by="example"),
    "dr_grpo": partial(PolicyGradient, normalize_by="divisor"),
    "dapo": partial(PolicyGradient, clip_range_high=0.28),
}
"""Losses by name; options follow in brackets: `sepo(kl_coef=0.2)`. The last four are settings that papers print."""

_registry: Registry[Loss] = Registry("loss", LOSSES, "stratagem.losses", Loss)

read_loss = RegistryReader(_registry, Loss)
"""Reader of a loss in a recipe: a text or a table."""
NamedLoss = Annotated[NamedObject[Loss], PlainValidator(in_a_recipe(read_loss)), PlainSerializer(NamedObject.table)]
"""Loss as a setting."""
