"""SCO-PAL's settings, stage by stage; the defaults are the paper's (section 5.1, appendix B)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field, field_validator

from stratagem.learning.advantages.catalogue import read_advantage
from stratagem.learning.optimizer import OptimizerSettings
from stratagem.settings import FiniteSettings

SELF = "self"
"""The opponent that is the learner itself."""


class InteractionSettings(FiniteSettings):
    """Stage I: who plays whom, and how often."""

    episodes: int = Field(default=1000, ge=1)
    """Games of each kind; seats alternate."""
    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Who the opponents are, each with its share of the games: self, or any player by name."""
    teachers: dict[str, float] = Field(default={})
    """Who plays all seats of a game in the learner's place, each with its share of the games, which are imitated;
    without any the learner plays."""
    temperature: float = Field(default=0.7, gt=0.0)
    """At which the learner plays."""
    block: int = Field(default=250, ge=1)
    """So many games are played at once, and kept before the next ones begin."""
    records: tuple[str, ...] = ()
    """Games that were played already, as folders of records; with any, none are played."""

    @field_validator("opponents", "teachers")
    @classmethod
    def _positive(cls, shares: dict[str, float]) -> dict[str, float]:
        if min(shares.values(), default=1.0) <= 0.0:
            raise ValueError("every share is more than 0: leave out who is not to play")
        return shares


class RewardSettings(FiniteSettings):
    """Stage II: what a step is worth."""

    credit: str = "step_win_rate"
    """The estimator, with its options: step_win_rate, discounted, beta, or any other by state and action."""
    players: tuple[str, ...] = ()
    """Whose decisions count, by their names in the records; by default those of whoever holds slot 0."""
    table: str = ""
    """A table of steps that was made already; with one, nothing is played or estimated."""

    @field_validator("credit")
    @classmethod
    def _known(cls, credit: str) -> str:
        read_advantage(credit)
        return credit


class StageSettings(FiniteSettings):
    """One stage of refinement."""

    replaced: ClassVar[Mapping[str, str]] = {"optimiser": "optimizer"}

    epochs: int = Field(default=5, ge=1)
    """How often every sample is learnt from."""
    max_steps: int = Field(default=0, ge=0)
    """Optimizer steps of the stage, in place of `epochs`; 0 leaves it to `epochs`."""
    batch: int = Field(default=16, ge=1)
    """How many samples make a step; pairs count as one."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-6)
    """How the weights are moved."""
    beta: float = Field(default=0.1, ge=0.0)
    """How fast a gain over the reference is saturated, or what the divergence from it costs; cloning has no use for
    it."""
    heaviest: float = Field(default=8.0, ge=1.0)
    """A sample that counts more than so many times the mean is learnt from several times an epoch instead."""

    def steps_an_epoch(self, samples: int, least: int = 1) -> int:
        """How many steps so many samples take once, in batches as even as can be, none of fewer than the `least`."""
        return max(1, min(-(-samples // self.batch), samples // least))


class SampleSettings(FiniteSettings):
    """Which steps are learnt from."""

    balance: bool = True
    """Whether every game counts as much as any other."""
    most: int = Field(default=0, ge=0)
    """So many at most, drawn by their weight, what is drawn twice counting twice; 0 takes all."""
