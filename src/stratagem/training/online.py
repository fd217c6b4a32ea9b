"""Online reinforcement learning as a stage: each step collects rollouts of all games, and updates the policy once.

Algorithms differ in their collector, which plays one game and returns a batch of rollouts with advantages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stratagem.engines.base import TrainableEngine
from stratagem.engines.caches import reset_caches
from stratagem.engines.open import open_engine
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.learning.policy import Policy
from stratagem.learning.reference import EMAReference
from stratagem.models.language_model import LanguageModel
from stratagem.models.run_models import DecodingSettings
from stratagem.play.records import Episode
from stratagem.players.model_player import ModelPlayer
from stratagem.runs.folder import RunFolder
from stratagem.training.artifacts import Artifacts, Saved, labelled, publish
from stratagem.training.collector import Collector, RolloutBatch, merge
from stratagem.training.evaluation import Final, Validation, save_policies
from stratagem.training.overlap import Overlap
from stratagem.training.policy import POLICY, TrainablePolicy, TrainingData, model_player
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.stage import Batch, Metrics, Stage, State


def training_data(batch: RolloutBatch) -> TrainingData:
    """Return the data that a policy is updated on."""
    return TrainingData(batch.examples, batch.counts, batch.inactive)


def decoding_settings(recipe: PolicyRecipe) -> DecodingSettings:
    """Return the decoding mode, prompt style and sampling settings of a recipe's model."""
    return DecodingSettings(
        mode=recipe.mode,
        style=recipe.style,
        temperature=recipe.temperature,
        top_k=recipe.top_k,
        top_p=recipe.top_p,
        max_new_tokens=recipe.max_new_tokens,
    )


def policy_of(
    recipe: PolicyRecipe,
    lm: LanguageModel,
    engine: TrainableEngine | None = None,
    *,
    name: str = POLICY,
    seed: int | None = None,
    strict: bool = False,
    games: Sequence[Game[Any]] = (),
    start: Callable[..., LanguageModel] | None = None,
) -> TrainablePolicy:
    """Make the policy that a recipe trains, with its objective and optimizer; refused if it cannot play a game.

    `start` loads the weights at the start of the stage once more, for a `reference` of the type `copy`.
    """
    engine = engine or open_engine(lm, recipe.engine.value)
    model_player(decoding_settings(recipe), engine, games=games)
    stage, seed = recipe.stage, recipe.seed if seed is None else seed
    policy = TrainablePolicy(
        lm,
        engine,
        decoding_settings(recipe),
        name=name,
        adapter=recipe.adapter if recipe.train == "adapter" else None,
        seed=seed,
        policy=Policy(
            lm,
            max_tokens_per_microbatch=recipe.max_tokens_per_microbatch,
            gradient_checkpointing=recipe.gradient_checkpointing is True,
        ),
        strict=strict,
    )
    policy.optimizer_steps, policy.signal_every = stage.optimizer_steps, recipe.signal_every
    reference: EMAReference | Policy | None = recipe.reference.make(lm, name)
    if start is not None and recipe.reference.type == "copy":
        copy = start(**recipe.reference.options(lm))
        reference = Policy(copy, max_tokens_per_microbatch=recipe.max_tokens_per_microbatch)
    steps, key = stage.iterations * stage.optimizer_steps, Key(seed).at("dropout")
    policy.assign(stage.loss.value, stage.optimizer, steps, key=key, reference=reference)
    return policy


class Online(Stage):
    """Iterations of rollouts and updates of one policy, with validation at intervals."""

    def __init__(
        self,
        recipe: PolicyRecipe,
        run: RunFolder,
        games: Sequence[Game[Any]],
        collector: Callable[[Game[Any], ModelPlayer, Key], Collector],
        *,
        strict: bool = False,
    ) -> None:
        self.recipe = recipe
        self.run = run
        self.games = games
        self.artifacts = Artifacts(run, recipe.model)
        lm = self.artifacts.load()
        self.policy = policy_of(recipe, lm, strict=strict, games=games, start=self.artifacts.load)
        self.policies = {"": self.policy}
        self.num_steps = recipe.stage.iterations
        self.validation = Validation(recipe, games)
        key = Key(recipe.seed).at(recipe.stage_name)
        self.overlap = Overlap(self.policy, self.num_steps) if recipe.overlap else None
        player = self.policy.player if self.overlap is None else self.overlap.player
        self.collectors = [collector(game, player, key) for game in games]

    def begin(self, step: int) -> Metrics:
        return self.evaluate(0) if not step else {}

    def batches(self, step: int) -> Iterator[Batch]:
        reset_caches()
        batch = self._collect(step) if self.overlap is None else self.overlap.take(step, self._collect, self._collected)
        yield Batch(batch.episodes, "", training_data(batch), batch.metrics)

    def _collect(self, step: int) -> RolloutBatch:
        return merge([collector.collect(step) for collector in self.collectors])

    def _collected(self) -> list[dict[str, Any]]:
        return [collector.state() for collector in self.collectors]

    def evaluates(self, step: int) -> bool:
        return step % self.recipe.evaluate_every == 0 or step == self.num_steps

    def evaluate(self, step: int) -> Metrics:
        if self.overlap is not None:
            self.overlap.wait()
        reset_caches()
        save_policies(self.run, self.games, self.recipe.sft_steps + step, self.policy.player)
        return self.validation.metrics(self.policy.player)

    def failed_validation(self) -> Sequence[Episode]:
        return self.validation.failed

    def score(self, metrics: Mapping[str, float]) -> float:
        return metrics["checkpoint_metric"]

    def saves(self, step: int) -> bool:
        return self.evaluates(step) or self.recipe.checkpoint_due(step)

    def state(self) -> dict[str, Any]:
        if self.overlap is None:
            return {"policy": self.policy.state(), "collectors": self._collected()}
        return {"policy": self.policy.state(), **self.overlap.state(self._collected)}

    def restore(self, state: State, folder: Path) -> None:
        self.policy.restore(state["policy"], folder)
        for collector, saved in zip(self.collectors, state["collectors"], strict=True):
            collector.restore(saved)
        if self.overlap is not None:
            self.overlap.restore(state)

    def write(self, folder: Path) -> None:
        self.policy.write(folder)

    def publish(self, run: RunFolder, best: int | None) -> None:
        base, start = self.artifacts.base_and_start()
        steps = self.artifacts.checkpoints(POLICY, after=self.recipe.sft_steps)
        publish(run, labelled(Saved(base, start, steps, best)), decoding_settings(self.recipe))

    def final_evaluation(self, best: int | None) -> None:
        final, titles = Final.of(self.recipe, self.games), self._titles(best)
        final.write(self.run, titles, decoding_settings(self.recipe), policy=self.policy)

    def _titles(self, best: int | None) -> dict[str, str]:
        """Return the labels of the evaluated models, each with its title in reports."""
        title, last, before = self.recipe.title, self.recipe.steps, self.recipe.sft_steps
        titles = {"base": "Base"} | ({"start": "SFT"} if before else {})
        titles |= {str(best): f"{title} (step {best - before})"} if best is not None else {}
        titles |= {str(last): f"{title}, last (step {last - before})"} if best != last else {}
        return titles
