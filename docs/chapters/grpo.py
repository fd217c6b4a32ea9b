"""Recipes of GRPO on branched rollouts."""

from __future__ import annotations

from chapters.markdown import definition, page, table
from chapters.training import HEADS, TABLES, Links, rows
from stratagem.algorithms.grpo import GRPORecipe, GRPOSettings
from stratagem.training.seated_rollouts import SeatPolicySettings

LINKS: Links = {
    **{settings: f"recipes.md#{name}" for name, settings in TABLES.items()},
    GRPOSettings: "#grpo",
    SeatPolicySettings: "#policies",
}


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
        "## policies",
        f"{definition(SeatPolicySettings)} See [Train two models](../how-to/train-two-models.md).",
        table(HEADS, rows(SeatPolicySettings, LINKS)),
    )
