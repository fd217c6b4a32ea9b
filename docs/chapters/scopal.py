"""Recipes of SCO-PAL: every setting of play, of what a step is worth, and of each way to refine."""

from __future__ import annotations

from chapters.markdown import code, definition, page, table
from chapters.training import HEADS, TABLES, rows
from stratagem.algorithms.scopal.methods import METHODS
from stratagem.algorithms.scopal.recipe import FinalEvaluationSettings, ScopalRecipe
from stratagem.algorithms.scopal.settings import (
    DPOStageSettings,
    GRPOStageSettings,
    InteractionSettings,
    KTOStageSettings,
    RewardSettings,
    SampleSettings,
    SPAGStageSettings,
    StageSettings,
)
from stratagem.algorithms.scopal.steps import COLUMNS
from stratagem.settings import Settings

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
        "Recipes of SCO-PAL",
        'With `algorithm = "scopal"` a run plays games, estimates what each of their steps is worth, and refines the '
        "policy by it. A recipe names what differs from these defaults, which are the paper\u2019s; "
        "[what all of it means](../explanation/scopal.md) is told elsewhere.",
        "## At the top",
        table(HEADS, rows(ScopalRecipe, LINKS)),
        "## Ways to refine",
        "`refine` names some of these, one after the other; each has a table of its own settings under its name.",
        table(("name", "what it does"), ((code(name), definition(type(method))) for name, method in METHODS.items())),
        *(_table(name, settings) for name, settings in OWN.items()),
        "## The table of steps",
        "What `stratagem steps` writes and `reward.table` takes, as Parquet. The records that it was made of must "
        "still be where they were, since replies are looked up there.",
        table(("column", "type", "what it tells"), ((code(n), str(kind), told) for n, (kind, told) in COLUMNS.items())),
    )


def _table(name: str, settings: type[Settings]) -> str:
    return f"## {name}\n\n{definition(settings)}\n\n{table(HEADS, rows(settings, LINKS))}"
