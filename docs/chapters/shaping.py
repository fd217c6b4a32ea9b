"""Recipes of several learners: every setting of a trial, of a seat, and of how a seat learns."""

from __future__ import annotations

from chapters.markdown import definition, page, table
from chapters.training import HEADS, TABLES, rows
from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe, KLSFTSettings
from stratagem.algorithms.kl_sft.target_policies import TargetPolicy
from stratagem.algorithms.shapellm.recipe import FinalEvaluationSettings, ShapingRecipe
from stratagem.algorithms.shapellm.seat_settings import Frozen, Naive, Scripted, Shaper, Tabular
from stratagem.learning.kl_controller import AdaptiveKLSettings
from stratagem.learning.minibatches import Batches
from stratagem.learning.proximal import PPOSettings
from stratagem.learning.schedules import Schedule
from stratagem.settings import Settings

SEATS: dict[str, type[Settings]] = {
    "naive": Naive,
    "shaper": Shaper,
    "frozen": Frozen,
    "scripted": Scripted,
    "tabular": Tabular,
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
        "Recipes of several learners",
        'With `algorithm = "shaping"` several seats of one game learn, each with an `update_every` of its own. A '
        "recipe names what differs from these defaults, those of ShapeLLM. The page of [recipes](recipes.md) has "
        "the settings of adapters and optimizers.",
        "## At the top",
        table(HEADS, rows(ShapingRecipe, LINKS)),
        "What seats of one kind have in common a file may say once, under `[defaults.naive]`, `[defaults.shaper]` and "
        "so on; what a seat says itself counts. [What all of it means](../explanation/shaping.md) is told elsewhere.",
        *(_table(f"{name}", settings) for name, settings in SEATS.items()),
        *(_table(name, settings) for name, settings in OWN.items()),
        "## Target policies alone",
        'With `algorithm = "kl_sft"` a run fits a model to target policies and does no more; other recipes take it as '
        '`model = "run:PATH@start"`.',
        table(HEADS, rows(KLSFTRecipe, LINKS)),
    )


def _table(name: str, settings: type[Settings]) -> str:
    return f"## {name}\n\n{definition(settings)}\n\n{table(HEADS, rows(settings, LINKS))}"
