"""Registry of advantage estimators by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from stratagem.learning.advantages.base import AdvantageEstimator
from stratagem.learning.advantages.beta import Beta
from stratagem.learning.advantages.discounted import Discounted
from stratagem.learning.advantages.gae import GAE
from stratagem.learning.advantages.group_mean import GroupMean
from stratagem.learning.advantages.message_effect import MessageEffect
from stratagem.learning.advantages.per_order import PerOrder
from stratagem.learning.advantages.per_round import PerRound
from stratagem.learning.advantages.role_baseline import RoleBaseline
from stratagem.learning.advantages.scaled import Scaled
from stratagem.learning.advantages.spag import SPAGReward
from stratagem.learning.advantages.step_win_rate import StepWinRate
from stratagem.learning.advantages.whitened import Whitened
from stratagem.learning.named import Named, Reader, in_a_recipe
from stratagem.registry import Registry

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
    "rloo": partial(GroupMean, normalize_std=False, leave_one_out=True),
}
"""Estimators by name; options follow in brackets: `per_round(return_to_go=False)`."""

_registry: Registry[AdvantageEstimator] = Registry(
    "advantage estimator", ESTIMATORS, "stratagem.advantages", AdvantageEstimator
)

read_advantage = Reader(_registry, AdvantageEstimator)
"""Reader of an estimator in a recipe: a text or a table."""
NamedAdvantage = Annotated[
    Named[AdvantageEstimator], PlainValidator(in_a_recipe(read_advantage)), PlainSerializer(Named.table)
]
"""Advantage estimator as a setting."""
