"""ShapeLLM (model-free opponent shaping, as M-FOS and SHAPER): KL-SFT to target policies, then trials.

A trial has E successive episodes in parallel environments. A naive learner is updated by PPO after each episode, with
the return of that episode. A shaper is updated once a trial, with the return of the whole trial,

    J(shaper) = E[ sum over episodes e = 1..E of  sum_t r_t(pi_shaper, pi_naive^e) ]

so its return includes the effect of its actions on the naive learner's updates (section 4.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe, kl_sft
from stratagem.algorithms.shapellm.language_seat import Base, decoding_settings
from stratagem.algorithms.shapellm.metrics import (
    empirical_policy_metrics,
    first_log_odds,
    interests,
    joint_action_metrics,
    payoff_metrics,
    policy_metrics,
)
from stratagem.algorithms.shapellm.recipe import FinalEvaluationSettings, ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat import PPOLearnerSettings, Seat, TrialEpisodes, UpdateData
from stratagem.algorithms.shapellm.seats import (
    SeatFactory,
    check_initial_policies,
    check_seats,
    check_speech,
    meta_learners,
)
from stratagem.algorithms.shapellm.shapers.mfos import MetaStage, meta_policies
from stratagem.games.base import Game, Json
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.language.engines.caches import reset_caches
from stratagem.language.models.run_models import RunModel
from stratagem.language.models.unloaded import NotLoaded
from stratagem.measure.exploitability.exact import exact
from stratagem.players.seated import SeatedPlayers
from stratagem.playing.match import Match, Setup
from stratagem.playing.memory import carry_memory
from stratagem.playing.records import Episode
from stratagem.playing.workers.shards import play_setups
from stratagem.training.algorithm import Algorithm
from stratagem.training.artifacts import SavedModels, artifacts_of, label_models, publish
from stratagem.training.by_game import warn_of_broken_rules
from stratagem.training.evaluation import save_policies
from stratagem.training.learner_models import LearnerBase
from stratagem.training.runs.files import write_json_once
from stratagem.training.runs.folder import RunFolder
from stratagem.training.stage import Metrics, Stage, State, TrainingBatch
from stratagem.training.stopping import StoppingRule


def final_rows(game: Game[Any], seats: Mapping[str, Seat], settings: FinalEvaluationSettings, key: Key) -> list[Json]:
    """Return a row for each length: payoff per step by seat with standard error, null actions, joint actions."""
    return [
        _row(variant, seats, settings.episodes, key.at("rounds", variant.spec.rounds or 0))
        for variant in _lengths(game, settings)
    ]


def _lengths(game: Game[Any], settings: FinalEvaluationSettings) -> list[Game[Any]]:
    """Return the game at every length of the settings, or the game itself."""
    if settings.rounds:
        return [replace(cast("Any", game), rounds=rounds) for rounds in settings.rounds]
    return [game]


def _row(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Json:
    episodes = play_setups(_setups(game, seats, games, key))
    each = [payoff_metrics([episode], list(seats)) for episode in episodes]
    figures = payoff_metrics(episodes, list(seats)) | joint_action_metrics(game, episodes)
    for name in seats:
        figures[f"{name}/payoff_error"] = _error([metrics[f"{name}/payoff"] for metrics in each])
    return {"game": game.spec.name, "rounds": game.spec.rounds, "games": games, "figures": figures}


def _setups(game: Game[Any], seats: Mapping[str, Seat], games: int, key: Key) -> Iterator[Setup]:
    match = Match(game, [seat.player for seat in seats.values()])
    for number in range(games):
        at = key.at("game", number)
        yield Setup(id=f"test-{game.spec.rounds}/{number}", match=match, slots=tuple(range(len(seats))), key=at)


def _error(values: Sequence[float]) -> float:
    """Return the standard error of the mean over games."""
    known = [value for value in values if math.isfinite(value)]
    if len(known) < 2:
        return math.nan
    mean = math.fsum(known) / len(known)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1) / len(known))


@dataclass(frozen=True)
class Trials:
    """Trials of a run; a trial follows from its number and the seats' policies."""

    game: Game[Any]
    seats: Mapping[str, Seat]
    """Seats by name, in the order of the game's seats."""
    environments: int
    episodes: int
    key: Key

    def batches(self, number: int) -> Iterator[TrainingBatch]:
        """Play a trial; yield a batch of episodes after each, and one for each seat with an update due."""
        reset_caches()
        key = self.key.at("trial", number)
        match = Match(self.game, [seat.player for seat in self.seats.values()])
        trial: list[list[Episode]] = []
        for index in range(self.episodes):
            trial.append(play_setups(self._setups(match, trial, key, number)))
            yield TrainingBatch(trial[-1])
            due = [(slot, name) for slot, (name, seat) in enumerate(self.seats.items()) if _is_due(seat, index)]
            log_odds = self._log_odds([name for _, name in due])
            for slot, name in due:
                since = trial[-self.seats[name].every :]
                played_before = number * self.episodes + len(trial) - len(since)
                data = UpdateData(since, slot, key.at("learn", slot, index), log_odds, played_before, number)
                yield TrainingBatch(policy=name, data=data)

    def _log_odds(self, learners: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return the policies of all seats before the first of these learners is updated, if one needs them."""
        if not any(self.seats[name].needs_policies for name in learners):
            return ()
        return tuple(first_log_odds(self.game, slot, seat) for slot, seat in enumerate(self.seats.values()))

    def _setups(self, match: Match, trial: TrialEpisodes, key: Key, number: int) -> Iterator[Setup]:
        """Yield the setup of the next episode in every environment, with each seat's memory."""
        index = len(trial)
        for environment in range(self.environments):
            earlier = [episodes[environment] for episodes in trial]
            yield Setup(
                id=f"trial-{number}/{environment}.{index}",
                match=match,
                slots=tuple(range(len(self.seats))),
                key=key.at("episode", environment, index),
                purpose="train",
                group=f"trial-{number}/{environment}",
                pasts=tuple(carry_memory(seat.memory, earlier, slot) for slot, seat in enumerate(self.seats.values())),
            )


def _is_due(seat: Seat, index: int) -> bool:
    """Return whether a seat is updated after this episode of the trial."""
    return bool(seat.every) and not (index + 1) % seat.every


OUTCOME = "outcome.json"
"""File of the final evaluation."""
Bases = Mapping[LearnerBase, Base]


class ShapeLLMAlgorithm(Algorithm[ShapeLLMRecipe]):
    """KL-SFT of each base where the recipe has target policies, then the trials."""

    recipe_type = ShapeLLMRecipe

    def check(self) -> None:
        game = make_bounded_game(self.recipe.game)
        check_seats(self.recipe, game)
        warn_of_broken_rules([game])
        with suppress(NotLoaded):
            check_speech(self.recipe, game, bases_of(self.recipe, self.run))

    @property
    def num_steps(self) -> int:
        return self.recipe.sft_steps + self.recipe.meta_steps + self.recipe.trials

    def stages(self) -> Sequence[Callable[[], Stage]]:
        recipe, several = self.recipe, len(self.recipe.learner_bases) > 1
        stages: list[Callable[[], Stage]] = []
        artifacts = artifacts_of(self.run, recipe.learner_bases)
        for number, base in enumerate(recipe.trained_bases):
            own, name = kl_sft_recipe(recipe, base.model), f"kl_sft-{number}" if several else "kl_sft"
            adapters = recipe.adapters_on(base)
            stages.append(partial(kl_sft, own, artifacts[base], name=name, adapters=adapters, strict=self.strict))
        if recipe.meta_steps:
            stages.append(partial(meta_stage, recipe, self.run))
        return [*stages, lambda: TrialStage(recipe, self.run, strict=self.strict)]


def meta_stage(recipe: ShapeLLMRecipe, run: RunFolder) -> Stage:
    """Return the stage that trains the meta-policies of M-FOS seats."""
    return MetaStage(meta_learners(recipe, make_bounded_game(recipe.game)), run, recipe.checkpoint_every)


def kl_sft_recipe(recipe: ShapeLLMRecipe, model: str) -> KLSFTRecipe:
    """Return the recipe for KL-SFT of one base."""
    return KLSFTRecipe(
        model=model,
        seed=recipe.seed,
        max_tokens_per_microbatch=recipe.max_tokens_per_microbatch,
        logits_chunk_mib=recipe.logits_chunk_mib,
        engine=recipe.engine,
        target_policies=recipe.target_policies,
        kl_sft=recipe.kl_sft,
    )


def bases_of(recipe: ShapeLLMRecipe, run: RunFolder) -> Bases:
    """Load the bases of a run."""
    spec, sizes = recipe.engine.value, (recipe.max_tokens_per_microbatch, recipe.logits_chunk_mib)
    return {base: Base.of(own, spec, *sizes) for base, own in artifacts_of(run, recipe.learner_bases).items()}


class TrialStage(Stage):
    """Stage of the trials; a step is a trial."""

    def __init__(self, recipe: ShapeLLMRecipe, run: RunFolder, *, strict: bool = False) -> None:
        """`strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.game: Game[Any] = make_bounded_game(recipe.game)
        self.key = Key(recipe.seed).at("shaping")
        self.artifacts = artifacts_of(run, recipe.learner_bases)
        self.bases = bases_of(recipe, run)
        factory = SeatFactory(recipe, self.game, self.bases, strict, meta_policies(run))
        self.seats = factory.seats()
        self.policies = self.seats
        self.num_steps = recipe.trials
        self.trials = Trials(self.game, self.seats, recipe.environments, recipe.episodes, self.key)
        self.stopping = StoppingRule(recipe.stop)
        self._episodes: list[Episode] = []
        """Episodes of the newest trial."""

    def begin(self, step: int) -> Metrics:
        if step:
            return {}
        reset_caches()
        check_initial_policies(self.game, self.bases, self.recipe.target_policies, self.recipe.open_bases)
        return policy_metrics(self.game, self.seats) | (self.evaluate(0) if self.recipe.exact_every else {})

    def evaluates(self, step: int) -> bool:
        every = self.recipe.exact_every
        return bool(every) and (step % every == 0 or step == self.num_steps)

    def evaluate(self, step: int) -> Metrics:
        """Measure the exact exploitability of all seats together, and save their policies."""
        reset_caches()
        players, done = SeatedPlayers(tuple(seat.player for seat in self.seats.values())), self._before + step
        save_policies(self.run, [self.game], done, players)
        found = exact(self.game, players, self.recipe.exact_budget)
        metrics = {f"{self.game.spec.name}/{name}": value for name, value in found.metrics().items()}
        self.stopping.add(metrics)
        return metrics

    @property
    def _before(self) -> int:
        """Number of steps of earlier stages."""
        return self.recipe.sft_steps + self.recipe.meta_steps

    def is_settled(self) -> bool:
        return self.stopping.is_met

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        self._episodes = []
        for batch in self.trials.batches(step):
            self._episodes += batch.episodes
            yield batch

    def after_step(self, step: int, metrics: Mapping[str, float]) -> Metrics:
        episodes = self._episodes
        return {
            **payoff_metrics(episodes, list(self.seats)),
            **joint_action_metrics(self.game, episodes),
            **policy_metrics(self.game, self.seats),
            **empirical_policy_metrics(self.game, self.seats, episodes),
        }

    def records(self, step: int) -> bool:
        return step in (0, self.num_steps - 1) or not (step + 1) % self.recipe.record_every

    def saves(self, step: int) -> bool:
        return not step % self.recipe.checkpoint_every

    def state(self) -> dict[str, Any]:
        own = {"seats": {name: seat.state() for name, seat in self.seats.items()}}
        return own | ({"stopping": self.stopping.values} if self.recipe.stop else {})

    def restore(self, state: State, folder: Path) -> None:
        self.stopping.values = list(state.get("stopping", ()))
        for name, seat in self.seats.items():
            seat.restore(state["seats"][name], folder)

    def write(self, folder: Path) -> None:
        for seat in self.seats.values():
            seat.write(folder)

    def publish(self, run: RunFolder, best: int | None) -> None:
        models: dict[str, RunModel] = {}
        for name, seat in self.recipe.seats.items():
            if isinstance(seat, PPOLearnerSettings):
                artifacts = self.artifacts[self.recipe.base_of(seat)]
                steps = artifacts.checkpoints(name, after=self._before)
                decoding = {"speaks": decoding_settings(seat)}
                own = label_models(SavedModels(*artifacts.base_and_start(), steps), name)
                models |= {label: model.model_copy(update=decoding) for label, model in own.items()}
        publish(run, models)

    def final_evaluation(self, best: int | None) -> None:
        write_json_once(self.run.path / OUTCOME, self._outcome)

    def _outcome(self) -> dict[str, Any]:
        reset_caches()
        rows = final_rows(self.game, self.seats, self.recipe.final_evaluation, self.key.at("test"))
        interest = interests(self.game, self.seats, self.recipe.final_evaluation.episodes, self.key.at("interest"))
        return {"seats": list(self.seats), "rows": rows, "interest": interest}
