"""Recipes of leagues: who learns, whom each meets, and how the league goes on."""

from __future__ import annotations

from chapters.markdown import code, definition, page, table
from chapters.training import HEADS, TABLES, rows
from stratagem.algorithms.league.recipe import LeagueRecipe, LeagueSettings, LearnerSettings
from stratagem.algorithms.league.roles import ROLES
from stratagem.base.settings import Settings

OWN: dict[str, type[Settings]] = {"learners": LearnerSettings, "league": LeagueSettings}
LINKS = {
    **{settings: f"recipes.md#{name}" for name, settings in TABLES.items()},
    **{settings: f"#{name}" for name, settings in OWN.items()},
}


def league() -> str:
    """The page."""
    return page(
        "League recipes",
        'Settings of a recipe with `algorithm = "league"`. Learners with roles play members of a population. '
        "Matchmaking uses their measured results. [Leagues](../explanation/league.md) explains the settings.",
        "## Top level",
        table(HEADS, rows(LeagueRecipe, LINKS)),
        "## Roles",
        table(("role", "opponents"), ((code(name), definition(rule)) for name, rule in ROLES.items())),
        "[Matchmakers](matchmakers.md) lists the values of `matchmaker`; `role` is the rule of the role.",
        *(_table(name, settings) for name, settings in OWN.items()),
    )


def _table(name: str, settings: type[Settings]) -> str:
    return f"## {name}\n\n{definition(settings)}\n\n{table(HEADS, rows(settings, LINKS))}"
