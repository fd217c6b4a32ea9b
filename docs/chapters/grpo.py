"""Recipes of GRPO on forks."""

from __future__ import annotations

from chapters.markdown import page, table
from chapters.training import HEADS, TABLES, rows
from stratagem.algorithms.grpo.recipe import GRPORecipe
from stratagem.algorithms.grpo.settings import GRPOSettings

LINKS = {**{settings: f"recipes.md#{name}" for name, settings in TABLES.items()}, GRPOSettings: "#grpo"}


def grpo() -> str:
    """The page."""
    return page(
        "Recipes of GRPO on forks",
        'With `algorithm = "grpo"` a run plays up to a situation, plays on from it several times, and says more often '
        "what went better than in the other forks. It is how league-trained no-press Diplomacy is learnt, and it works "
        "in any game. A recipe names what differs from these defaults; "
        "[what all of it means](../explanation/diplomacy.md#grpo-on-branched-rollouts) is told elsewhere.",
        "## At the top",
        table(HEADS, rows(GRPORecipe, LINKS)),
        "## grpo",
        table(HEADS, rows(GRPOSettings, LINKS)),
    )
