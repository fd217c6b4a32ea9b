"""Every algorithm that a recipe can name: what its recipe says, and what makes a run of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from stratagem.algorithms.grpo.recipe import GRPORecipe
from stratagem.algorithms.grpo.trainer import GRPOTrainer
from stratagem.algorithms.kl_sft import KLSFTRecipe
from stratagem.algorithms.kl_sft_trainer import KLSFTTrainer
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.trainer import LeagueTrainer
from stratagem.algorithms.recipe import Recipe
from stratagem.algorithms.recipe_file import AnyRecipe, recipe_data
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.scopal.trainer import ScopalTrainer
from stratagem.algorithms.sepo_trainer import SEPOTrainer
from stratagem.algorithms.shaping.recipe import ShapingRecipe
from stratagem.algorithms.shaping.trainer import ShapingTrainer
from stratagem.errors import UnknownName
from stratagem.runs.binding import check_recipe
from stratagem.runs.folder import RunFolder


class Trains(Protocol):
    """A run that can begin, or go on."""

    def train(self) -> None: ...


@dataclass(frozen=True)
class Algorithm:
    """One way to train."""

    recipe: type[AnyRecipe]
    """What its recipes say."""
    trainer: Callable[..., Trains]
    """From a recipe, a run's folder, who is told of progress, and `strict`; refuses what cannot be trained."""


ALGORITHMS: dict[str, Algorithm] = {
    "sepo": Algorithm(Recipe, SEPOTrainer),
    "grpo": Algorithm(GRPORecipe, GRPOTrainer),
    "kl_sft": Algorithm(KLSFTRecipe, KLSFTTrainer),
    "league": Algorithm(LeagueRecipe, LeagueTrainer),
    "scopal": Algorithm(ScopalRecipe, ScopalTrainer),
    "shaping": Algorithm(ShapingRecipe, ShapingTrainer),
}
"""By the name that a recipe gives."""
DEFAULT = "sepo"
"""Of a recipe that gives none."""


def algorithm_of(data: Mapping[str, Any]) -> Algorithm:
    """The algorithm that a recipe names."""
    name = data.get("algorithm", DEFAULT)
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise UnknownName("algorithm", str(name), ALGORITHMS)
    return ALGORITHMS[name]


def read_any(path: Path, changes: Mapping[str, str] | None = None) -> AnyRecipe:
    """The recipe in a file, of whatever algorithm it is."""
    data = recipe_data(path, changes)
    return algorithm_of(data).recipe.read(data)


def recipe_of(run: RunFolder) -> AnyRecipe:
    """What a run was begun with; refused where its configuration is another by now."""
    check_recipe(run)
    return read_any(run.path / "config.toml")


def trainer_of(recipe: AnyRecipe, run: RunFolder, *told: Any, strict: bool = False) -> Trains:
    """What trains by a recipe."""
    return next(one for one in ALGORITHMS.values() if isinstance(recipe, one.recipe)).trainer(
        recipe, run, *told, strict=strict
    )
