"""Validation of a policy while it trains, the policy at the first information sets, and the final evaluation of a run.

Each plays deals of its own. The best checkpoint is chosen by validation, so its validation figures are biased; the
final evaluation is not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.engines.caches import reset_caches
from stratagem.errors import CannotCompute
from stratagem.evaluation.evaluate import Row, evaluate, measured
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.naming import under_names
from stratagem.evaluation.openings import opening_policy
from stratagem.evaluation.report import evaluation_json, scale_of
from stratagem.evaluation.suites import Suite
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.models.run_models import Speaks, own_name
from stratagem.players.base import Player
from stratagem.runs.files import write_file
from stratagem.runs.folder import RunFolder
from stratagem.training.artifacts import player_names
from stratagem.training.recipe import PolicyRecipe

POLICIES, EVALUATION = "policies", "evaluation.json"
"""Folder of the policies by step, and file of the final evaluation."""


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
        table = Evaluator(self.recipe.validation_episodes, key, exact_budget=self.recipe.exact_budget)
        return measured(suite, suite.lines[0], game, hero, table)

    def _score(self, game: Game[Any], row: Row) -> float:
        metric, name = self.recipe.checkpoint_metric, game.spec.name
        if metric == "exploitability":
            if row.exact is None:
                raise CannotCompute(f"`checkpoint_metric` cannot be exploitability in {name}: {row.why_not_exact}")
            return -row.exact.exploitability
        estimate = row.metrics.get(metric)
        if estimate is None and metric in row.metrics and _was_silent(row):
            return -math.inf  # as where only null actions are left, of which some metrics know nothing
        if estimate is None:
            raise CannotCompute(f"`checkpoint_metric` cannot be {metric} in {name}: no such metric there.")
        return estimate.mean


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


def save_policies(run: RunFolder, games: Sequence[Game[Any]], step: int, player: Player) -> None:
    """Write the policy at the first information sets of each game, where the player can state it."""
    folder = run.path / POLICIES
    folder.mkdir(exist_ok=True)
    for game in games:
        try:
            policy = opening_policy(game, player)
        except CannotCompute:
            continue
        data = {"step": step, "game": describe(game), "policy": policy}
        write_file(folder / f"{game.spec.name}-{step:06d}.json", json.dumps(data, indent=1) + "\n")


@dataclass(frozen=True)
class Final:
    """The final evaluation: who plays what against whom, on deals that nothing else sees."""

    suite: Suite
    evaluator: Evaluator
    seed: int
    chance: bool = True
    """Whether random play has a row, too."""

    @classmethod
    def of(cls, recipe: PolicyRecipe, games: Sequence[Game[Any]]) -> Final:
        """All games of a recipe, each by its suite."""
        suites = [recipe.suite(game) for game in games]
        lines = tuple(line for suite in suites for line in suite.lines)
        metrics = tuple(dict.fromkeys(metric for suite in suites for metric in suite.metrics))
        suite = Suite(", ".join(recipe.games), "A training run's games.", lines, metrics, recipe.test_episodes)
        key = Key(recipe.seed).at("test")
        return cls(suite, Evaluator(recipe.test_episodes, key, exact_budget=recipe.exact_budget), recipe.seed)

    def write(self, run: RunFolder, titles: Mapping[str, str], speaks: Speaks | None = None) -> None:
        """Evaluate models of a run by their labels, each with its title; an evaluation that is there stays."""
        path = run.path / EVALUATION
        if path.is_file():
            return
        reset_caches()
        names = {name: own_name(label) for label, name in player_names(run, titles, speaks).items()}
        results = under_names(evaluate(self.suite, list(names), self.evaluator, chance=self.chance), names)
        data = evaluation_json(results, self.suite.name, self.seed, self.evaluator.episodes)
        rows = {own_name(label): title for label, title in titles.items()}
        write_file(path, json.dumps({"rows": rows, "evaluation": data}, indent=1) + "\n")
