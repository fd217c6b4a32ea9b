"""Objective of an online algorithm: the loss and the advantage estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import model_validator

from stratagem.base.named import NamedObject
from stratagem.base.settings import FiniteSettings
from stratagem.learn.advantages.catalogue import NamedAdvantage
from stratagem.learn.losses.catalogue import NamedLoss
from stratagem.training.provided import CollectedInputs


class ObjectiveSettings(FiniteSettings):
    """Loss and advantage estimator, each by name with its parameters."""

    provided: ClassVar[CollectedInputs]
    """Inputs that the algorithm collects for them."""

    loss: NamedLoss
    """Loss of a batch."""
    advantage: NamedAdvantage
    """Advantage estimator of the decisions."""

    @property
    def reward_terms(self) -> frozenset[str]:
        """Reward terms of every batch, which an estimator may name."""
        return frozenset()

    @model_validator(mode="before")
    @classmethod
    def _over_defaults(cls, data: Any) -> Any:
        """Lay a table without a type over the parameters of the default."""
        if not isinstance(data, Mapping):
            return data
        defaults = {name: cls.model_fields[name].default for name in ("loss", "advantage") if name in data}
        return {
            **data,
            **{name: value.over(data[name]) for name, value in defaults.items() if isinstance(value, NamedObject)},
        }

    @model_validator(mode="after")
    def _check_provided(self) -> Self:
        self.provided.check_loss(self.loss)
        self.provided.check_advantage(self.advantage, self.reward_terms)
        return self
