"""Recipes of GRPO on branched rollouts."""

from __future__ import annotations

from chapters.markdown import page, table
from chapters.training import HEADS, TABLES, rows
from stratagem.algorithms.grpo import GRPORecipe, GRPOSettings

LINKS = {**{settings: f"recipes.md#{name}" for name, settings in TABLES.items()}, GRPOSettings: "#grpo"}


def grpo() -> str:
    """The page."""
    return page(
        "GRPO recipes",
        'Settings of a recipe with `algorithm = "grpo"`. GRPO branches several rollouts from one state. The advantage '
        "of a rollout is its return relative to the others of its group. League-trained no-press Diplomacy uses this "
        "algorithm. It works in any game. [Diplomacy](../explanation/diplomacy.md#grpo-on-branched-rollouts) explains "
        "it.",
        "## Top level",
        table(HEADS, rows(GRPORecipe, LINKS)),
        "## grpo",
        table(HEADS, rows(GRPOSettings, LINKS)),
    )
