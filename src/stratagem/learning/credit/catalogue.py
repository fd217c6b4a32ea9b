"""Every estimator of credit by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import PlainSerializer, PlainValidator

from stratagem.learning.credit.base import Estimator
from stratagem.learning.credit.beta import Beta
from stratagem.learning.credit.discounted import Discounted
from stratagem.learning.credit.gae import GAE
from stratagem.learning.credit.group_mean import GroupMean
from stratagem.learning.credit.per_order import PerOrder
from stratagem.learning.credit.per_round import PerRound
from stratagem.learning.credit.role_baseline import RoleBaseline
from stratagem.learning.credit.scaled import Scaled
from stratagem.learning.credit.spag import SPAGReward
from stratagem.learning.credit.step_win_rate import StepWinRate
from stratagem.learning.credit.whitened import Whitened
from stratagem.learning.named import Named, Reader, in_a_recipe
from stratagem.registry import Registry, parse_call

CREDITS: dict[str, Callable[..., Estimator]] = {
    "group_mean": GroupMean,
    "per_round": PerRound,
    "gae": GAE,
    "step_win_rate": StepWinRate,
    "discounted": Discounted,
    "beta": Beta,
    "spag": SPAGReward,
    "per_order": PerOrder,
    "role_baseline": RoleBaseline,
    "whitened": Whitened,
    "scaled": Scaled,
    "rloo": partial(GroupMean, scale=False, leave_one_out=True),
}
"""Estimators by name; options follow in brackets: `per_round(horizon=round)`."""

_registry: Registry[Estimator] = Registry("estimator of credit", CREDITS, "stratagem.credits")

read_advantage = Reader(_registry, Estimator)
"""Reads an estimator as a recipe names it: by a text or a table."""
NamedAdvantage = Annotated[Named[Estimator], PlainValidator(in_a_recipe(read_advantage)), PlainSerializer(Named.table)]
"""An estimator of the advantage as a setting."""


def make_credit(text: str) -> Estimator:
    """The estimator that a text names."""
    return _registry.make(parse_call(text))


def credit_names() -> list[str]:
    """Every name that `make_credit` knows."""
    return _registry.names()
