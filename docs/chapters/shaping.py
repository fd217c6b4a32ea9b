"""Recipes of several learners: every setting of a trial, of a seat, and of how a seat learns."""

from __future__ import annotations

from chapters.markdown import definition, page, table
from chapters.training import HEADS, TABLES, rows
from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe, KLSFTSettings
from stratagem.algorithms.kl_sft.target_policies import TargetPolicy
from stratagem.algorithms.shapellm.recipe import FinalEvaluationSettings, ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import (
    FrozenSettings,
    NaiveSettings,
    ScriptedSettings,
    ShaperSettings,
    TabularSettings,
)
from stratagem.algorithms.shapellm.seats import SHAPERS
from stratagem.base.settings import Settings
from stratagem.learn.kl_controller import AdaptiveKLSettings
from stratagem.learn.proximal import Batches, PPOSettings
from stratagem.learn.schedules import Schedule

SEATS: dict[str, type[Settings]] = {
    "naive": NaiveSettings,
    "shaper": ShaperSettings,
    "frozen": FrozenSettings,
    "scripted": ScriptedSettings,
    "tabular": TabularSettings,
    **{str(settings.model_fields["learner"].default): settings for settings in SHAPERS},
}
OWN: dict[str, type[Settings]] = {
    "ppo": PPOSettings,
    "adaptive_kl": AdaptiveKLSettings,
    "entropy_coef": Schedule,
    "batches": Batches,
    "target_policies": TargetPolicy,
    "kl_sft": KLSFTSettings,
    "final_evaluation": FinalEvaluationSettings,
}
LINKS = {
    **{settings: f"recipes.md#{name}" for name, settings in TABLES.items()},
    **{settings: f"#{name}" for name, settings in (*SEATS.items(), *OWN.items())},
}


def shaping() -> str:
    """The page."""
    return page(
        "ShapeLLM recipes",
        'Settings of a recipe with `algorithm = "shapellm"`. Several seats of one game learn, each with its own '
        "`update_every`. The defaults are those of ShapeLLM. [Recipes](recipes.md) has the settings of adapters and "
        "optimizers. [Shaping](../explanation/shaping.md) explains the settings.",
        "## Top level",
        table(HEADS, rows(ShapeLLMRecipe, LINKS)),
        "Settings that all seats of one kind share can stand in `[defaults.naive]`, `[defaults.shaper]` and so on. A "
        "setting of a seat overrides them.",
        *(_table(f"{name}", settings) for name, settings in SEATS.items()),
        *(_table(name, settings) for name, settings in OWN.items()),
        "## KL-SFT recipes",
        'With `algorithm = "kl_sft"` a run only fits a model to target policies. Other recipes use the result as '
        '`model = "run:PATH@start"`.',
        table(HEADS, rows(KLSFTRecipe, LINKS)),
    )


def _table(name: str, settings: type[Settings]) -> str:
    return f"## {name}\n\n{definition(settings)}\n\n{table(HEADS, rows(settings, LINKS))}"
