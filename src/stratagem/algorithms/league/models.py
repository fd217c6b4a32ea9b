"""Which models a league's run holds: the base, and every learner's checkpoints, as `run:PATH@20/main` names them."""

from __future__ import annotations

from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.own_base import base_and_start
from stratagem.league.member import Population
from stratagem.models.reference import parse_model
from stratagem.models.run_models import RunModels, Speaks
from stratagem.runs.folder import RunFolder


def league_models(recipe: LeagueRecipe, run: RunFolder, population: Population, best: str) -> RunModels:
    """By label; `best` and `last` alone are the first learner's."""
    base, start = base_and_start(run, recipe.model, parse_model(recipe.model).options)
    models = {"base": base, "start": start}
    for member in population.of(learns=False):
        if member.parent and member.adapter:
            kept = start.model_copy(update={"adapter": member.adapter})
            models[f"{member.step}/{member.parent}"] = models[f"last/{member.parent}"] = kept
    if best in population:
        models["best"] = start.model_copy(update={"adapter": population[best].adapter})
    if f"last/{recipe.first}" in models:
        models["last"] = models[f"last/{recipe.first}"]
    return RunModels(
        models=models,
        speaks=Speaks(
            mode=recipe.mode, style=recipe.style, temperature=recipe.temperature, max_new_tokens=recipe.max_new_tokens
        ),
    )
