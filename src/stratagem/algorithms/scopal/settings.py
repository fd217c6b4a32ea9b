"""SCO-PAL's settings, stage by stage; the defaults are the paper's (section 5.1, appendix B)."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from stratagem.learning.advantages.catalogue import read_advantage
from stratagem.learning.optimizer import OptimizerSettings
from stratagem.settings import FiniteSettings

SELF = "self"
"""Name of the policy itself as an opponent: self-play."""


class InteractionSettings(FiniteSettings):
    """Stage I: players and number of games."""

    episodes: int = Field(default=1000, ge=1)
    """Number of episodes of each game; seats alternate."""
    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Opponents, each with its share of the games; `self`, or any player by name."""
    teachers: dict[str, float] = Field(default={})
    """Players of all seats in place of the policy, each with its share of the games; their games are imitated.
    `self` inside a name is the policy, as in `search(self)`. Without any the policy plays."""
    temperature: float = Field(default=0.7, gt=0.0)
    """Sampling temperature of the policy in these games."""
    top_k: int = Field(default=0, ge=0)
    """Number of most likely tokens to sample from in these games; 0 leaves all. The learner renormalises over the kept
    tokens."""
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    """Nucleus sampling in these games: the most likely tokens that together have at least this probability."""
    block: int = Field(default=250, ge=1)
    """Number of games that are played in parallel and saved together."""
    records: tuple[str, ...] = ()
    """Folders of records of games that were played before; with any, no game is played."""

    @property
    def searches_with_policy(self) -> bool:
        """True if every teacher has the policy inside, so that it plays anew in each iteration."""
        return bool(self.teachers) and all(re.search(rf"\b{SELF}\b", name) for name in self.teachers)

    @field_validator("opponents", "teachers")
    @classmethod
    def _positive(cls, shares: dict[str, float]) -> dict[str, float]:
        if min(shares.values(), default=1.0) <= 0.0:
            raise ValueError("every share is more than 0: leave out who is not to play")
        return shares


class RewardSettings(FiniteSettings):
    """Stage II: the reward of a step."""

    step_reward: str = "step_win_rate"
    """Advantage estimator of the steps, with its options: step_win_rate, discounted, beta, or any other by state and
    action."""
    players: tuple[str, ...] = ()
    """Players whose decisions count, by their names in the records; by default the player of slot 0."""
    table: str = ""
    """Table of steps that was made before; with one, nothing is played or estimated."""

    @field_validator("step_reward")
    @classmethod
    def _known(cls, step_reward: str) -> str:
        read_advantage(step_reward)
        return step_reward


class StageSettings(FiniteSettings):
    """Settings of a cloning method, and what all refinement methods have in common."""

    epochs: int = Field(default=5, ge=1)
    """Number of passes over the samples."""
    max_steps: int = Field(default=0, ge=0)
    """Number of optimizer steps, in place of `epochs`; 0 uses `epochs`."""
    batch_size: int = Field(default=16, ge=1)
    """Number of samples in an optimizer step; a pair counts as one."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-6)
    """Optimizer of the trained weights."""
    max_weight_ratio: float = Field(default=8.0, ge=1.0)
    """Largest weight of a sample, relative to the mean; a heavier sample is split into several of equal weight."""

    def steps_per_epoch(self, samples: int, min_samples: int = 1) -> int:
        """Return the number of steps, in batches of nearly equal size, none with fewer samples than `min_samples`."""
        return max(1, min(-(-samples // self.batch_size), samples // min_samples))


class KTOStageSettings(StageSettings):
    """Settings of KTO, and of cloning and KTO in one loss."""

    kto_beta: float = Field(default=0.1, ge=0.0)
    """Temperature beta of KTO: the smaller, the farther the policy may move from the reference."""


class DPOStageSettings(StageSettings):
    """Settings of DPO."""

    dpo_beta: float = Field(default=0.1, ge=0.0)
    """Temperature beta of DPO: the smaller, the farther the policy may move from the reference."""


class GRPOStageSettings(StageSettings):
    """Settings of GRPO on recorded games."""

    kl_coef: float = Field(default=0.04, ge=0.0)
    """Coefficient of the KL penalty to the reference policy."""


class SPAGStageSettings(StageSettings):
    """Settings of SPAG."""

    kl_coef: float = Field(default=0.2, ge=0.0)
    """Coefficient of the KL penalty to the reference policy."""


class SampleSettings(FiniteSettings):
    """Selection of the samples."""

    balance: bool = True
    """Equal total weight of every game."""
    max_samples: int = Field(default=0, ge=0)
    """Maximum number of samples, drawn by weight with replacement; 0 takes all."""
