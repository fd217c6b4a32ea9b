"""Validation during training, the saved policy at the first information sets, and the final evaluation of a run.

Validation and final evaluation use separate deals. The best checkpoint is chosen by validation, so its validation
figures are biased; those of the final evaluation are not.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.engines.caches import reset_caches
from stratagem.language.engines.open import serving_base
from stratagem.language.engines.outcomes import counting_outcomes
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.run_models import own_name, own_text
from stratagem.learn.monitor import TrainingWarning
from stratagem.measure.agreement import disagreements
from stratagem.measure.by_seat import measure_seats
from stratagem.measure.evaluate import EvaluationRow, GameResult, evaluate, measure_player
from stratagem.measure.matchups import Evaluator
from stratagem.measure.openings import opening_policy
from stratagem.measure.report import evaluation_json, scale_of
from stratagem.measure.suites import Suite
from stratagem.players.base import Player
from stratagem.playing.records import Episode
from stratagem.training.artifacts import player_names
from stratagem.training.policy import TrainablePolicy
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.runs.files import write_file, write_json_once
from stratagem.training.runs.folder import RunFolder


def under_names(results: Sequence[GameResult], names: Mapping[str, str]) -> list[GameResult]:
    """Rename players, as in `{"run:runs/demo@best": "run:.@best"}`; the figures stay as they are."""
    return [_result(result, names) for result in results]


def _result(result: GameResult, names: Mapping[str, str]) -> GameResult:
    return replace(
        result,
        rows=tuple(_row(row, names) for row in result.rows),
        differences={names.get(name, name): difference for name, difference in result.differences.items()},
        warnings=tuple(_warn_player(warning, names) for warning in result.warnings),
    )


def _row(row: EvaluationRow, names: Mapping[str, str]) -> EvaluationRow:
    return replace(row, player=names.get(row.player, row.player))


def _warn_player(warning: str, names: Mapping[str, str]) -> str:
    """Return a warning begins with the player that it is about."""
    about = next((name for name in names if warning.startswith(f"{name}: ")), None)
    return warning if about is None else names[about] + warning.removeprefix(about)


POLICIES, EVALUATION = "policies", "evaluation.json"
"""Folder of the policies by step, and file of the final evaluation."""


@dataclass(frozen=True)
class Validation:
    """Validation of a policy in all games of a recipe."""

    recipe: PolicyRecipe
    games: Sequence[Game[Any]]
    seats: Mapping[str, Sequence[Seat]] = field(default_factory=dict)
    """Seats of each policy, where several play together."""
    failed: list[Episode] = field(default_factory=list)
    """Episodes of the latest validation with a turn at which a player failed."""

    def metrics(self, agent: Player) -> dict[str, float]:
        """Return the mean of every metric by game, and `checkpoint_metric`; the best checkpoint has the highest.

        A policy without any legal action scores minus infinity where the metric is not defined for it.
        """
        metrics: dict[str, float] = {}
        scores = []
        self.failed.clear()
        for game in self.games:
            row = self._row(game, agent)
            metrics |= _metrics(game, row)
            for name, seats in self.seats.items():
                metrics |= _metrics_of_seats(name, seats, game, row)
            self.failed.extend(one for played in row.matchups for one in played.episodes if one.failed_turns())
            scores.append(self._score(game, row))
        return metrics | {"checkpoint_metric": sum(scores) / len(scores)}

    def _row(self, game: Game[Any], agent: Player) -> EvaluationRow:
        suite = self.recipe.suite(game)
        key = Key(self.recipe.seed).at("validation")
        evaluator = _evaluator(self.recipe, self.recipe.validation_episodes, key)
        return measure_player(suite, suite.lines[0], game, agent, evaluator)

    def _score(self, game: Game[Any], row: EvaluationRow) -> float:
        metric, name = self.recipe.checkpoint_metric, game.figure_name
        if metric == "exploitability":
            figure = row.exploitability.estimate
            if figure is None or math.isnan(figure.mean):
                why = row.exploitability.tried.get("replies") or row.exploitability.why_not_exact
                raise CannotCompute(f"`checkpoint_metric` cannot be exploitability in {name}: {why}")
            return -figure.mean
        estimate = row.metrics.get(metric)
        if estimate is None and metric in row.metrics and _has_illegal(row):
            return -math.inf  # only null actions are left, for which some metrics are not defined
        if estimate is None:
            raise CannotCompute(f"`checkpoint_metric` cannot be {metric} in {name}: no such metric there.")
        return estimate.mean


def _evaluator(recipe: PolicyRecipe, episodes: int, key: Key) -> Evaluator:
    return Evaluator(episodes, key, exact_budget=recipe.exact_budget, effort=recipe.policy_replies or None)


def _metrics(game: Game[Any], row: EvaluationRow) -> dict[str, float]:
    name = game.figure_name
    means = {metric.replace(" ", "_"): value.mean for metric, value in row.metrics.items() if value is not None}
    metrics = {f"{name}/validation/{metric}": mean for metric, mean in means.items()}
    metrics |= {f"{name}/{metric}": value for metric, value in row.exploitability.metrics().items()}
    if (worst := row.exploitability.worst_advantage) is not None and (scale := scale_of(game)) is not None:
        metrics[f"{name}/validation/worst_case"] = scale * worst
    if row.validity is not None:
        metrics[f"{name}/illegal_rate"] = row.validity.shares["illegal"].mean
    return metrics


def _metrics_of_seats(name: str, seats: Sequence[Seat], game: Game[Any], row: EvaluationRow) -> dict[str, float]:
    """Return the means of the metrics of a seat, over the episodes in which a policy had its seats."""
    found = measure_seats(game, row.matchups, list(row.metrics), seats)
    means = {metric.replace(" ", "_"): value.mean for metric, value in found.items() if value is not None}
    return {f"{name}/{game.spec.name}/validation/{metric}": mean for metric, mean in means.items()}


def _has_illegal(row: EvaluationRow) -> bool:
    """True if the player ever had an illegal reply."""
    return any(episode.num_illegal[episode.seat_of(0)] for matchup in row.matchups for episode in matchup.episodes)


def save_policies(run: RunFolder, games: Sequence[Game[Any]], step: int, player: Player) -> None:
    """Write the policy at the first information sets of each game, if the player states its probabilities."""
    folder = run.path / POLICIES
    folder.mkdir(exist_ok=True)
    for game in games:
        try:
            policy = opening_policy(game, player)
        except CannotCompute:
            continue
        data = {"step": step, "game": describe(game), "policy": policy}
        write_file(folder / f"{game.figure_name}-{step:06d}.json", json.dumps(data, indent=1) + "\n")


@contextmanager
def _bases_once(run: RunFolder, policies: Mapping[str, TrainablePolicy]) -> Iterator[None]:
    """Serve models on the bases of policies by the policies' engines, where these read the policies' own weights."""
    with ExitStack() as stack:
        for name, policy in policies.items():
            if policy.adapter is not None and not policy.engine.capabilities.copies:
                label = f"start/{name}" if name else "start"
                stack.enter_context(serving_base(own_text(run.path, label), policy.engine))
        yield


def _warn_of_faults(results: Sequence[GameResult]) -> None:
    """Warn of players that failed in a final evaluation, and of exact payoffs that its play does not confirm.

    Figures against a player that failed are those of the default action.
    """
    for result in results:
        for found in disagreements(result.game, [(row.player, row.matchups) for row in result.rows]):
            warnings.warn(f"In the final evaluation in {result.text} {found}", TrainingWarning, stacklevel=4)
        for error in dict.fromkeys(error for row in result.rows for error in row.errors):
            warnings.warn(f"In the final evaluation in {result.text} {error}.", TrainingWarning, stacklevel=4)


@dataclass(frozen=True)
class Final:
    """Final evaluation of a run, on deals that are used nowhere else."""

    suite: Suite
    evaluator: Evaluator
    seed: int
    chance: bool = True
    """Inclusion of a row for random play."""
    seats: bool = False
    """Figures by seat, too."""

    @classmethod
    def of(cls, recipe: PolicyRecipe, games: Sequence[Game[Any]]) -> Final:
        """Make the final evaluation of a recipe: all games, each with its suite."""
        suites = [recipe.suite(game) for game in games]
        lines = tuple(line for suite in suites for line in suite.lines)
        metrics = tuple(dict.fromkeys(metric for suite in suites for metric in suite.metrics))
        suite = Suite(
            ", ".join(recipe.test_games or recipe.validation_games or recipe.games),
            "A training run's games.",
            lines,
            metrics,
            recipe.test_episodes,
        )
        key = Key(recipe.seed).at("test")
        seats = bool(recipe.seats_of_learners)
        return cls(suite, _evaluator(recipe, recipe.test_episodes, key), recipe.seed, seats=seats)

    def write(
        self,
        run: RunFolder,
        titles: Mapping[str, str],
        decoding: DecodingSettings | None = None,
        *,
        policies: Mapping[str, TrainablePolicy] | None = None,
    ) -> None:
        """Evaluate models of a run by their labels, each with its title; an existing evaluation is kept.

        Models on the base of one of the `policies` that trains an adapter play by its engine, so that the base is in
        memory once.
        """
        write_json_once(run.path / EVALUATION, lambda: self.evaluate_models(run, titles, decoding, policies=policies))

    def evaluate_models(
        self,
        run: RunFolder,
        titles: Mapping[str, str],
        decoding: DecodingSettings | None = None,
        *,
        policies: Mapping[str, TrainablePolicy] | None = None,
    ) -> dict[str, Any]:
        """Return the evaluation of models of a run by their labels, each with its title."""
        reset_caches()
        names = {name: own_name(label) for label, name in player_names(run, titles, decoding).items()}
        with _bases_once(run, policies or {}), counting_outcomes() as outcomes:
            results = under_names(
                evaluate(self.suite, list(names), self.evaluator, chance=self.chance, seats=self.seats), names
            )
        _warn_of_faults(results)
        data = evaluation_json(results, self.suite.name, self.seed, self.evaluator.episodes)
        del data["made_by"]["command"]  # it names folders, and may be that of a resume; `run.json` has the first
        rows = {own_name(label): title for label, title in titles.items()}
        requests = {_within(run, model): counts for model, counts in outcomes.to_json().items()}
        return {"rows": rows, "evaluation": data, "requests": requests}


def _within(run: RunFolder, model: str) -> str:
    """Name a model of the run by its path in the folder, so that two equal runs have equal files."""
    return model.replace(f"{run.path.resolve()}/", "").replace(f"{run.path}/", "")
