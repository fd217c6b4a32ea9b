"""ShapeLLM (model-free opponent shaping, as M-FOS and SHAPER): KL-SFT to target policies, then trials.

A trial has E successive episodes in parallel environments. A naive learner is updated by PPO after each episode, with
the return of that episode. A shaper is updated once a trial, with the return of the whole trial,

    J(shaper) = E[ sum over episodes e = 1..E of  sum_t r_t(pi_shaper, pi_naive^e) ]

so its return includes the effect of its actions on the naive learner's updates (section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from stratagem.algorithms.kl_sft.algorithm import KLSFTRecipe, kl_sft
from stratagem.algorithms.shapellm.bases import Base
from stratagem.algorithms.shapellm.final_games import final_rows
from stratagem.algorithms.shapellm.initial_check import check_initial_policies
from stratagem.algorithms.shapellm.interest import interests
from stratagem.algorithms.shapellm.language_seat import decoding_settings
from stratagem.algorithms.shapellm.metrics import (
    empirical_policy_metrics,
    joint_action_metrics,
    payoff_metrics,
    policy_metrics,
)
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seat_settings import PPOLearnerSettings
from stratagem.algorithms.shapellm.seats import SeatFactory, check_seats, check_speech, meta_learners
from stratagem.algorithms.shapellm.shapers.mfos_stage import MetaStage, meta_policies
from stratagem.algorithms.shapellm.trials import Trials
from stratagem.engines.caches import reset_caches
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.models.run_models import RunModel
from stratagem.models.unloaded import NotLoaded
from stratagem.play.records import Episode
from stratagem.runs.files import write_json_once
from stratagem.runs.folder import RunFolder
from stratagem.training.algorithm import Algorithm
from stratagem.training.artifacts import Artifacts, Saved, labelled, publish
from stratagem.training.stage import Batch, Metrics, Stage, State

OUTCOME = "outcome.json"
"""File of the final evaluation."""
Bases = Mapping[str, Base]


class ShapeLLMAlgorithm(Algorithm[ShapeLLMRecipe]):
    """KL-SFT of each base where the recipe has target policies, then the trials."""

    recipe_type = ShapeLLMRecipe

    def check(self) -> None:
        game = make_bounded_game(self.recipe.game)
        check_seats(self.recipe, game)
        with suppress(NotLoaded):
            check_speech(self.recipe, game, bases_of(self.recipe, self.run))

    @property
    def num_steps(self) -> int:
        return self.recipe.sft_steps + self.recipe.meta_steps + self.recipe.trials

    def stages(self) -> Sequence[Callable[[], Stage]]:
        recipe, several = self.recipe, len(self.recipe.bases) > 1
        stages: list[Callable[[], Stage]] = []
        for number, text in enumerate(recipe.trained_bases):
            own, name = kl_sft_recipe(recipe, text), f"kl_sft-{number}" if several else "kl_sft"
            adapters = recipe.adapters_on(text)
            stages.append(partial(kl_sft, own, self.run, str(number), name=name, adapters=adapters, strict=self.strict))
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
        engine=recipe.engine,
        target_policies=recipe.target_policies,
        kl_sft=recipe.kl_sft,
    )


def artifacts_of(recipe: ShapeLLMRecipe, run: RunFolder) -> dict[str, Artifacts]:
    """Return the artifacts of each base of a run, by the recipe's names."""
    return {text: Artifacts(run, text, str(number)) for number, text in enumerate(recipe.bases)}


def bases_of(recipe: ShapeLLMRecipe, run: RunFolder) -> Bases:
    """Load the bases of a run, by the recipe's names."""
    spec, max_tokens = recipe.engine.value, recipe.max_tokens_per_microbatch
    return {text: Base.of(made, spec, max_tokens) for text, made in artifacts_of(recipe, run).items()}


class TrialStage(Stage):
    """Stage of the trials; a step is a trial."""

    def __init__(self, recipe: ShapeLLMRecipe, run: RunFolder, *, strict: bool = False) -> None:
        """`strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.game: Game[Any] = make_bounded_game(recipe.game)
        self.key = Key(recipe.seed).at("shaping")
        self.artifacts = artifacts_of(recipe, run)
        self.bases = bases_of(recipe, run)
        factory = SeatFactory(recipe, self.game, self.bases, strict, meta_policies(run))
        self.seats = factory.seats()
        self.policies = self.seats
        self.num_steps = recipe.trials
        self.trials = Trials(self.game, self.seats, recipe.environments, recipe.episodes, self.key)
        self._episodes: list[Episode] = []
        """Episodes of the newest trial."""

    def begin(self, step: int) -> Metrics:
        if step:
            return {}
        reset_caches()
        check_initial_policies(self.game, self.bases, self.recipe.target_policies, self.recipe.open_bases)
        return policy_metrics(self.game, self.seats)

    def batches(self, step: int) -> Iterator[Batch]:
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
        return {"seats": {name: seat.state() for name, seat in self.seats.items()}}

    def restore(self, state: State, folder: Path) -> None:
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
                steps = artifacts.checkpoints(name, after=self.recipe.sft_steps + self.recipe.meta_steps)
                decoding = {"speaks": decoding_settings(seat)}
                own = labelled(Saved(*artifacts.base_and_start(), steps), name)
                models |= {label: model.model_copy(update=decoding) for label, model in own.items()}
        publish(run, models)

    def final_evaluation(self, best: int | None) -> None:
        write_json_once(self.run.path / OUTCOME, self._outcome)

    def _outcome(self) -> dict[str, Any]:
        reset_caches()
        rows = final_rows(self.game, self.seats, self.recipe.final_evaluation, self.key.at("test"))
        interest = interests(self.game, self.seats, self.recipe.final_evaluation.episodes, self.key.at("interest"))
        return {"seats": list(self.seats), "rows": rows, "interest": interest}
