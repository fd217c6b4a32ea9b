"""Models of a league's run: the base, and every learner's snapshots, as `run:PATH@20/main` names them."""

from __future__ import annotations

from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.league.member import Population
from stratagem.models.run_models import RunModel
from stratagem.training.artifacts import Artifacts, Saved, labelled


def league_models(recipe: LeagueRecipe, artifacts: Artifacts, population: Population, best: str) -> dict[str, RunModel]:
    """Return the models by label; `base`, `start`, `best` and `last` alone are the first learner's."""
    base, start = artifacts.base_and_start()
    members = [member for member in population.of(learns=False) if member.parent and member.adapter]
    models = {"base": base, "start": start}
    for learner in dict.fromkeys(member.parent for member in members):
        steps = {m.step: start.model_copy(update={"adapter": m.adapter}) for m in members if m.parent == learner}
        own = labelled(Saved(base, start, steps), learner)
        models |= {label: model for label, model in own.items() if not label.startswith(("base/", "start/"))}
    if best in population:
        models["best"] = start.model_copy(update={"adapter": population[best].adapter})
    if f"last/{recipe.first}" in models:
        models["last"] = models[f"last/{recipe.first}"]
    return models
