"""A recipe for GRPO on forks: which model learns which games, from whom it begins, and against whom it is measured."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from stratagem.algorithms.grpo.settings import GRPOSettings
from stratagem.evaluation.suites import Suite, find_suite
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.training.recipe import PolicyRecipe


class GRPORecipe(PolicyRecipe):
    """SFT, then GRPO on branched rollouts."""

    title: ClassVar[str] = "GRPO"
    stage_name: ClassVar[str] = "grpo"

    algorithm: Literal["grpo"] = "grpo"
    """Name of the algorithm."""
    checkpoint_metric: str = "pay"
    """Validation metric by which the best checkpoint is chosen; the highest is best."""
    opponents: tuple[str, ...] = Field(default=("random",), min_length=1)
    """Opponents of validation and of the final evaluation; one of them plays all other seats."""
    exact_budget: int = Field(default=0, ge=0)
    """Situations that may be walked for an exact figure; one that a model is asked about counts 40."""
    grpo: GRPOSettings = GRPOSettings()
    """Settings of GRPO."""

    @property
    def stage(self) -> GRPOSettings:
        return self.grpo

    @property
    def signal_every(self) -> int:
        return self.grpo.signal_every

    def suite(self, game: Game[Any]) -> Suite:
        """The game alone, against the recipe's opponents."""
        return find_suite(describe(game), self.opponents)
