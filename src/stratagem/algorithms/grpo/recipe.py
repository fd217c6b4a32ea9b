"""Recipe for GRPO on branched rollouts."""

from __future__ import annotations

from typing import ClassVar, Literal

from stratagem.algorithms.grpo.settings import GRPOSettings
from stratagem.training.recipe import OpponentsRecipe


class GRPORecipe(OpponentsRecipe):
    """SFT, then GRPO on branched rollouts."""

    title: ClassVar[str] = "GRPO"
    stage_name: ClassVar[str] = "grpo"

    algorithm: Literal["grpo"] = "grpo"
    """Name of the algorithm."""
    grpo: GRPOSettings = GRPOSettings()
    """Settings of GRPO."""

    @property
    def stage(self) -> GRPOSettings:
        return self.grpo

    @property
    def signal_every(self) -> int:
        return self.grpo.signal_every
