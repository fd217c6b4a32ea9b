"""What each stage made of the base: win rates in every game against every opponent, on the same deals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stratagem.algorithms.scopal.learner_model import LearnerModel
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.engines.renewal import renew
from stratagem.evaluation.evaluate import evaluate
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.naming import under_names
from stratagem.evaluation.report import evaluation_json
from stratagem.evaluation.suites import CONTEST_METRICS, Line, Suite
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.models.run_models import own_name
from stratagem.runs.files import write_file


def judged(recipe: ScopalRecipe, games: Sequence[Game[Any]], model: LearnerModel, path: Path) -> None:
    """The last table: models by their labels, beside random play; one that is there already stays."""
    if path.is_file():
        return
    renew()
    whole = recipe.judge.stages == "all"
    rows = model.rows()
    shown = rows if whole else dict([list(rows.items())[-1]])
    players = {model.named(label): own_name(label) for label in shown}
    lines = tuple(Line(describe(game), {"opponents": recipe.judge.opponents}) for game in games)
    suite = Suite("scopal", "A training run's games.", lines, CONTEST_METRICS, recipe.judge.episodes)
    evaluator = Evaluator(
        recipe.judge.episodes, Key(recipe.seed).at("test"), exact_budget=0
    )  # no induction over boards
    results = under_names(evaluate(suite, list(players), evaluator, chance=whole), players)
    told: Json = {
        "rows": {own_name(label): title for label, title in shown.items()},
        "evaluation": evaluation_json(results, suite.name, recipe.seed, recipe.judge.episodes),
    }
    write_file(path, json.dumps(told, indent=1) + "\n")
