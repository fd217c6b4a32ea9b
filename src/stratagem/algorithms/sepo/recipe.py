"""Recipe for SEPO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.sepo.settings import SEPOSettings
from stratagem.evaluation.suites import Suite, safety_suite
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.safety.base import Pools
from stratagem.players.modes import MODES
from stratagem.training.by_game import NamedPools, pools_of
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.recipe_file import recipe_data


class SEPORecipe(PolicyRecipe):
    """SFT on demonstrations, then SEPO."""

    title: ClassVar[str] = "SEPO"
    stage_name: ClassVar[str] = "sepo"

    algorithm: Literal["sepo"] = "sepo"
    """Name of the algorithm."""
    checkpoint_metric: Literal["safety", "exploitability"] = "safety"
    """Validation metric by which the best checkpoint is chosen; highest safety, or lowest exploitability, which
    is exact or from replies."""
    pools: NamedPools = Field(default={})
    """Opponents by pool: `train`, `exploit`, `collusive` and `shifted` are lists of players, each in place of the
    game's own pool. With several games, a table for a game: `[pools.kuhn]`."""
    sepo: SEPOSettings = SEPOSettings()
    """Settings of SEPO."""

    @property
    def stage(self) -> SEPOSettings:
        return self.sepo

    @property
    def signal_every(self) -> int:
        return self.sepo.signal_every

    def pools_of(self, game: Game[Any]) -> Pools:
        return pools_of(self.pools, game)

    def suite(self, game: Game[Any]) -> Suite:
        """Return the game's suite, against its pools."""
        return safety_suite(describe(game), game, self.pools_of(game))

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.sepo.best_response_kl is not None and self.sepo.penalty_source != "best_response":
            raise ValueError(
                "`sepo.best_response_kl` is for a best response, and the pool never changes: say `sepo.penalty_source` "
                "= best_response, or leave it out"
            )
        if self.overlap and self.sepo.penalty_source == "best_response":
            raise ValueError(
                "a best response is computed by the policy's engine in this process, which learns at the same time: "
                "leave `overlap` at 0, or set `sepo.penalty_source` to `pool`"
            )
        if self.overlap and self.sepo.deception_weight:
            raise ValueError(
                "deceptive statements are found by the policy's engine in this process, which learns at the same time: "
                "leave `overlap` at 0, or `sepo.deception_weight` out"
            )
        if not MODES[self.mode].exact:
            self._check_replies()
        return self

    def _check_replies(self) -> None:
        """Refuse what needs probabilities in a mode that states none, unless replies are counted."""
        exact = ", ".join(name for name, mode in MODES.items() if mode.exact)
        needed = self.sepo.penalty_source == "best_response" or self.checkpoint_metric == "exploitability"
        if needed and not self.policy_replies:
            raise ValueError(
                f"in the mode {self.mode} a model states no probabilities, so `sepo.penalty_source` can only be `pool` "
                f"and `checkpoint_metric` only `safety`, unless replies are counted: say `policy_replies`, such as 30, "
                f"or take a mode that states them, {exact}"
            )
        if self.sepo.best_response_kl is not None:
            raise ValueError(
                f"`sepo.best_response_kl` compares probabilities, and in the mode {self.mode} a model states none: "
                f"leave it out, or take a mode that states them, {exact}"
            )


def read_recipe(paths: Path | Sequence[Path], changes: Mapping[str, str] | None = None) -> SEPORecipe:
    """Read a recipe, or several as one, with some settings changed: `{"sepo.exploitability_weight": "3"}`."""
    return SEPORecipe.read(recipe_data(paths, changes))
