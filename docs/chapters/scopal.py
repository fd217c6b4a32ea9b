"""Recipes of SCO-PAL: settings of play, of step rewards, and of each method of refinement."""

from __future__ import annotations

from chapters.markdown import code, definition, page, table
from chapters.training import HEADS, TABLES, rows
from stratagem.algorithms.scopal.interaction import InteractionSettings
from stratagem.algorithms.scopal.methods import (
    METHODS,
    DPOStageSettings,
    GRPOStageSettings,
    KTOStageSettings,
    SPAGStageSettings,
    StageSettings,
)
from stratagem.algorithms.scopal.recipe import FinalEvaluationSettings, RewardSettings, ScopalRecipe
from stratagem.algorithms.scopal.samples import SampleSettings
from stratagem.algorithms.scopal.steps import COLUMNS
from stratagem.base.settings import Settings

OWN: dict[str, type[Settings]] = {
    "interaction": InteractionSettings,
    "reward": RewardSettings,
    "samples": SampleSettings,
    "stage": StageSettings,
    "kto": KTOStageSettings,
    "dpo": DPOStageSettings,
    "grpo": GRPOStageSettings,
    "spag": SPAGStageSettings,
    "final_evaluation": FinalEvaluationSettings,
}
LINKS = {
    **{settings: f"recipes.md#{name}" for name, settings in TABLES.items()},
    **{settings: f"#{name}" for name, settings in OWN.items()},
}


def scopal() -> str:
    """The page."""
    return page(
        "SCO-PAL recipes",
        'Settings of a recipe with `algorithm = "scopal"`. A run plays games, estimates a reward for each step, and '
        "refines the policy with these rewards. The defaults are the paper\u2019s. "
        "[SCO-PAL](../explanation/scopal.md) explains the settings.",
        "## Top level",
        table(HEADS, rows(ScopalRecipe, LINKS)),
        "## Methods of refinement",
        "`refine` lists methods in their order. Each method has a table of settings with its name.",
        table(("name", "definition"), ((code(name), definition(type(method))) for name, method in METHODS.items())),
        *(_table(name, settings) for name, settings in OWN.items()),
        "## The table of steps",
        "A Parquet file that `stratagem steps` writes and `reward.table` reads. The records that it was made from must "
        "stay in their folders, since replies are read from them.",
        table(("column", "type", "meaning"), ((code(n), str(kind), told) for n, (kind, told) in COLUMNS.items())),
    )


def _table(name: str, settings: type[Settings]) -> str:
    return f"## {name}\n\n{definition(settings)}\n\n{table(HEADS, rows(settings, LINKS))}"
