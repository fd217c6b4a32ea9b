"""The two settings that say what an online algorithm maximises: the loss, and the advantage of each decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import model_validator

from stratagem.learning.advantages.catalogue import NamedAdvantage
from stratagem.learning.losses.catalogue import NamedLoss
from stratagem.learning.named import Named
from stratagem.settings import FiniteSettings
from stratagem.training.provided import Provided


class ObjectiveSettings(FiniteSettings):
    """A loss and an estimator of the advantage, each by name with its parameters."""

    provided: ClassVar[Provided]
    """What the algorithm has for them."""

    loss: NamedLoss
    """The loss of a batch."""
    advantage: NamedAdvantage
    """The estimator of each decision's advantage."""

    @property
    def reward_terms(self) -> frozenset[str]:
        """Terms of the reward that an estimator may name: those that every batch has."""
        return frozenset()

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, data: Any) -> Any:
        """A table without a type changes parameters of the default."""
        if not isinstance(data, Mapping):
            return data
        usual = {name: cls.model_fields[name].default for name in ("loss", "advantage") if name in data}
        return {**data, **{name: one.over(data[name]) for name, one in usual.items() if isinstance(one, Named)}}

    @model_validator(mode="after")
    def _provided(self) -> Self:
        self.provided.check_loss(self.loss)
        self.provided.check_advantage(self.advantage, self.reward_terms)
        return self
