"""Recipes of REINFORCE in self-play."""

from __future__ import annotations

from chapters.markdown import page, table
from chapters.training import HEADS, TABLES, Links, rows
from stratagem.algorithms.reinforce import REINFORCERecipe, REINFORCESettings

LINKS: Links = {
    **{settings: f"recipes.md#{name}" for name, settings in TABLES.items()},
    REINFORCESettings: "#reinforce",
}


def reinforce() -> str:
    """The page."""
    return page(
        "Recipes of REINFORCE in self-play",
        'With `algorithm = "reinforce"` one policy plays all seats of a game. The gradient is that of REINFORCE with a '
        "baseline for each role and game (SPIRAL, Liu et al. 2025): `A = R - b`, where R is the return of a seat and b "
        "its moving average. A recipe names what differs from these defaults; "
        "[a comparison with GRPO](../results/reinforce.md) is on another page.",
        "## At the top",
        table(HEADS, rows(REINFORCERecipe, LINKS)),
        "## reinforce",
        table(HEADS, rows(REINFORCESettings, LINKS)),
    )
