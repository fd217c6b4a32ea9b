"""What a policy is worth while it trains, on deals that neither training nor the last table ever sees.

The best checkpoint is chosen by these figures, so they say too much good of it; `judged` plays other deals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.algorithms.policy_recipe import PolicyRecipe
from stratagem.errors import CannotCompute
from stratagem.evaluation.evaluate import Row, evaluate, measured
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.naming import under_names
from stratagem.evaluation.report import evaluation_json, scale_of
from stratagem.evaluation.suites import Suite
from stratagem.games.base import Game, Json
from stratagem.games.key import Key
from stratagem.models.run_models import own_name
from stratagem.players.base import Player


@dataclass(frozen=True)
class Validation:
    """Measures a hero in all games of a recipe."""

    recipe: PolicyRecipe
    games: Sequence[Game[Any]]

    def figures(self, hero: Player) -> dict[str, float]:
        """Means of every metric by game, and `checkpoint_metric`, of which the best checkpoint has most.

        Where nothing legal was said, and the figure has no meaning for that, there is none less.
        """
        found: dict[str, float] = {}
        scores = []
        for game in self.games:
            row = self._row(game, hero)
            found |= _figures(game, row)
            scores.append(self._score(game, row))
        return found | {"checkpoint_metric": sum(scores) / len(scores)}

    def _row(self, game: Game[Any], hero: Player) -> Row:
        suite = self.recipe.suite(game)
        key = Key(self.recipe.seed).at("validation")
        evaluator = Evaluator(self.recipe.validation_episodes, key, exact_budget=self.recipe.exact_budget)
        return measured(suite, suite.lines[0], game, hero, evaluator)

    def _score(self, game: Game[Any], row: Row) -> float:
        metric = self.recipe.checkpoint_metric
        if metric == "exploitability":
            if row.exact is None:
                raise CannotCompute(
                    f"`checkpoint_metric` cannot be exploitability in {game.spec.name}: {row.why_not_exact}"
                )
            return -row.exact.exploitability
        figure = row.metrics.get(metric)
        if figure is None and metric in row.metrics and _was_silent(row):
            return -math.inf  # as where only null actions are left, of which some figures know nothing
        if figure is None:
            raise CannotCompute(f"`checkpoint_metric` cannot be {metric} in {game.spec.name}: no such figure there.")
        return figure.mean


def _figures(game: Game[Any], row: Row) -> dict[str, float]:
    name = game.spec.name
    means = {metric.replace(" ", "_"): one.mean for metric, one in row.metrics.items() if one is not None}
    found = {f"{name}/validation/{metric}": mean for metric, mean in means.items()}
    if row.exact is not None:
        found[f"{name}/exact/exploitability"] = row.exact.exploitability
        found[f"{name}/exact/worst_advantage"] = row.exact.worst_advantage
        if (scale := scale_of(game)) is not None:
            found[f"{name}/validation/worst_case"] = scale * row.exact.worst_advantage
    if row.validity is not None:
        found[f"{name}/illegal_rate"] = row.validity.shares["illegal"].mean
    return found


def _was_silent(row: Row) -> bool:
    """Whether the player ever said nothing legal."""
    return any(episode.num_illegal[episode.seat_of(0)] for matchup in row.matchups for episode in matchup.episodes)


def judged(recipe: PolicyRecipe, games: Sequence[Game[Any]], players: Mapping[str, str]) -> Json:
    """The last table: players by their labels in all games of a recipe, on deals of their own, beside random play."""
    suites = [recipe.suite(game) for game in games]
    lines = tuple(line for suite in suites for line in suite.lines)
    metrics = tuple(dict.fromkeys(metric for suite in suites for metric in suite.metrics))
    suite = Suite(", ".join(recipe.games), "A training run's games.", lines, metrics, recipe.test_episodes)
    evaluator = Evaluator(recipe.test_episodes, Key(recipe.seed).at("test"), exact_budget=recipe.exact_budget)
    names = {player: own_name(label) for label, player in players.items()}
    results = under_names(evaluate(suite, list(names), evaluator), names)
    return evaluation_json(results, suite.name, recipe.seed, recipe.test_episodes)
