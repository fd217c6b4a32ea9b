"""Registry of advantage estimators by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from stratagem.base.named import NamedObject, RegistryReader, in_a_recipe
from stratagem.base.registry import Registry
from stratagem.learn.advantages.advantage_alignment import AdvantageAlignment
from stratagem.learn.advantages.base import AdvantageEstimator
from stratagem.learn.advantages.beta import Beta
from stratagem.learn.advantages.discounted import Discounted
from stratagem.learn.advantages.gae import GAE
from stratagem.learn.advantages.group_mean import GroupMean
from stratagem.learn.advantages.message_effect import MessageEffect
from stratagem.learn.advantages.per_order import PerOrder
from stratagem.learn.advantages.per_round import PerRound
from stratagem.learn.advantages.role_baseline import RoleBaseline
from stratagem.learn.advantages.scaled import Scaled
from stratagem.learn.advantages.spag import SPAGReward
from stratagem.learn.advantages.step_win_rate import StepWinRate
from stratagem.learn.advantages.whitened import Whitened

ESTIMATORS: dict[str, Callable[..., AdvantageEstimator]] = {
    "group_mean": GroupMean,
    "per_round": PerRound,
    "gae": GAE,
    "step_win_rate": StepWinRate,
    "discounted": Discounted,
    "beta": Beta,
    "spag": SPAGReward,
    "per_order": PerOrder,
    "role_baseline": RoleBaseline,
    "message_effect": MessageEffect,
    "whitened": Whitened,
    "scaled": Scaled,
    "advantage_alignment": AdvantageAlignment,
    "rloo": partial(GroupMean, normalize_std=False, leave_one_out=True),
}
"""Estimators by name; options follow in brackets: `per_round(return_to_go=False)`."""

_registry: Registry[AdvantageEstimator] = Registry(
    "advantage estimator", ESTIMATORS, "stratagem.advantages", AdvantageEstimator
)

read_advantage = RegistryReader(_registry, AdvantageEstimator)
"""Reader of an estimator in a recipe: a text or a table."""
NamedAdvantage = Annotated[
    NamedObject[AdvantageEstimator], PlainValidator(in_a_recipe(read_advantage)), PlainSerializer(NamedObject.table)
]
"""Advantage estimator as a setting."""
