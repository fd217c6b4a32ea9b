"""Online reinforcement learning as a stage: each step collects rollouts of all games, and updates the policy once.

Algorithms differ in their collector, which plays one game and returns a batch of rollouts with advantages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.distribution import GameStream, is_stream
from stratagem.games.key import Key
from stratagem.language.engines.base import TrainableEngine
from stratagem.language.engines.caches import reset_caches
from stratagem.language.engines.open import open_engine
from stratagem.language.models.adapters import average_adapter, copy_adapter
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.run_models import RunModel
from stratagem.learn.example import OLD_LOGPROBS
from stratagem.learn.policy import Policy
from stratagem.learn.reference import MovingReference
from stratagem.players.base import Player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.seated import SeatedPlayers, players_by_seat
from stratagem.playing.records import Episode
from stratagem.playing.workers.plan import current
from stratagem.training.artifacts import Artifacts, SavedModels, artifacts_of, label_models, publish
from stratagem.training.collector import Collector, RolloutBatch, SeatedCollector, StreamCollector, merge
from stratagem.training.evaluation import Final, Validation, save_policies
from stratagem.training.game_lists import drawn_digests, named_games
from stratagem.training.learner_models import LearnerBase
from stratagem.training.policy import POLICY, TrainablePolicy, TrainingData, learner_policy, model_player
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.runs.folder import RunFolder
from stratagem.training.stage import Metrics, Stage, State, TrainingBatch
from stratagem.training.stopping import StoppingRule

AHEAD = "ahead"
"""Adapter that samples the rollouts of the next step."""


class Overlap:
    """Collection of the next step's rollouts beside the update on this step's."""

    def __init__(self, policy: TrainablePolicy, num_steps: int) -> None:
        self._policy = policy
        self._num_steps = num_steps
        copy_adapter(policy.lm, policy.name, AHEAD)
        policy.followers = (AHEAD,)
        self.player: ModelPlayer = replace(policy.player, speaker=replace(policy.player.speaker, adapter=AHEAD))
        """Player of the rollouts."""
        self._thread = ThreadPoolExecutor(1, "rollouts")
        self._pending: Future[RolloutBatch] | None = None
        self._before: list[dict[str, Any]] | None = None
        """State of the collectors before the rollouts that are being collected; None before the first."""

    def take(
        self, step: int, collect: Callable[[int], RolloutBatch], state: Callable[[], list[dict[str, Any]]]
    ) -> RolloutBatch:
        """Return the rollouts of a step, and begin to collect those of the next one by the present policy."""
        if self._pending is None:
            self._begin(step, collect)
        assert self._pending is not None
        batch, self._pending = self._pending.result(), None
        policy = self._policy
        staleness = policy.num_updates - policy.engine.version(AHEAD) // policy.optimizer_steps
        self._before = state()
        self._follow()
        if step + 1 < self._num_steps:
            self._begin(step + 1, collect)
        metrics = batch.metrics | {"overlap/staleness": float(staleness)}
        # without an update in between the trainer's own are the old ones, which a check compares with the sampler's
        examples = with_sampler_logprobs(batch.examples) if staleness else batch.examples
        return replace(batch, examples=examples, metrics=metrics)

    def _begin(self, step: int, collect: Callable[[int], RolloutBatch]) -> None:
        self._pending = self._thread.submit(collect, step)
        if not current().workers.beside_learner:
            self.wait()  # in one process, which may be a rank, the engine and the learner share the model

    def _follow(self) -> None:
        """Give the sampler the present weights."""
        average_adapter(self._policy.lm, AHEAD, self._policy.name, 0.0)
        self._policy.engine.publish(AHEAD, self._policy.learner.optimizer.steps_taken)

    def state(self, collected: Callable[[], list[dict[str, Any]]]) -> dict[str, Any]:
        """Return the state for a checkpoint: that before the pending rollouts, which a resumed run collects again."""
        self.wait()
        before = collected() if self._before is None else self._before
        return {"collectors": before, "ahead": self._policy.engine.version(AHEAD)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint; the weights of the sampler are restored with those of the policy."""
        self._before = list(state["collectors"])
        self._policy.engine.publish(AHEAD, state["ahead"])

    def wait(self) -> None:
        """Wait until the pending rollouts are there; an error is raised when they are taken."""
        if self._pending is not None:
            self._pending.exception()


def with_sampler_logprobs(examples: Sequence[Any]) -> list[Any]:
    """Take the sampler's log-probabilities as the old ones, to which the loss takes its ratio.

    For a reply of one token, E_mu[pi / mu A grad log pi] = E_pi[A grad log pi]: the gradient at pi, by samples of mu.
    """
    return [example.with_columns(**{OLD_LOGPROBS: example.columns["sampler_logprobs"]}) for example in examples]


def training_data(batch: RolloutBatch) -> TrainingData:
    """Return the data that a policy is updated on."""
    return TrainingData(batch.examples, batch.counts, batch.inactive)


def decoding_settings(recipe: PolicyRecipe) -> DecodingSettings:
    """Return the decoding mode, prompt style and sampling settings of a recipe's model."""
    return DecodingSettings.of(recipe.sampling, recipe.mode, recipe.style, recipe.max_new_tokens)


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
    stage, own, seed = recipe.stage, recipe.of_learner(name), recipe.seed if seed is None else seed
    policy = TrainablePolicy(
        lm,
        engine,
        decoding_settings(recipe),
        name=name,
        adapter=own.adapter if recipe.train == "adapter" else None,
        seed=seed,
        policy=learner_policy(lm, recipe),
        strict=strict,
    )
    policy.optimizer_steps, policy.signal_every = stage.optimizer_steps, recipe.signal_every
    reference: MovingReference | Policy | None = recipe.reference.make(lm, name)
    if start is not None and recipe.reference.type == "copy":
        copy = start(**recipe.reference.options(lm))
        sizes = (recipe.max_tokens_per_microbatch, recipe.logits_chunk_mib)
        reference = Policy(copy, max_tokens_per_microbatch=sizes[0], logits_chunk_mib=sizes[1])
    steps, key = stage.iterations * stage.optimizer_steps, Key(seed).at("dropout")
    policy.assign(stage.loss.value, own.optimizer or stage.optimizer, steps, key=key, reference=reference)
    return policy


def policies_of(
    recipe: PolicyRecipe,
    artifacts: Mapping[LearnerBase, Artifacts],
    games: Sequence[Game[Any]],
    *,
    strict: bool = False,
) -> dict[str, TrainablePolicy]:
    """Make the policy of each learner of a recipe; each base is loaded once, and has an engine of its own."""
    models = {base: own.load() for base, own in artifacts.items()}
    engines = {base: open_engine(lm, recipe.engine.value) for base, lm in models.items()}
    several = len(recipe.bases_by_learner) > 1
    return {
        name: policy_of(
            recipe,
            models[base],
            engines[base],
            name=name or POLICY,
            seed=recipe.seed * 1000 + number if several else None,
            strict=strict,
            games=games,
            start=artifacts[base].load,
        )
        for number, (name, base) in enumerate(recipe.bases_by_learner.items())
    }


class Online(Stage):
    """Iterations of rollouts and updates, with validation at intervals, of one policy or of one for each seat."""

    def __init__(
        self,
        recipe: PolicyRecipe,
        run: RunFolder,
        games: Sequence[Game[Any]],
        collector: Callable[[Game[Any], ModelPlayer, Key], Collector],
        seated_collector: Callable[[Game[Any], Mapping[str, ModelPlayer], Key], SeatedCollector] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        """`seated_collector` plays several policies, each at its seats, where the recipe has them."""
        self.recipe = recipe
        self.run = run
        self.games = games
        self.artifacts = artifacts_of(run, recipe.learner_bases, part=False)
        self.learners = policies_of(recipe, self.artifacts, games, strict=strict)
        self.policies = self.learners
        self.num_steps = recipe.stage.iterations
        self.validated = named_games(recipe.validation_games) or self.games
        self.tested = named_games(recipe.test_games) or self.validated
        self.validation = Validation(recipe, self.validated, seats=recipe.seats_of_learners)
        self.stopping = StoppingRule(recipe.stop)
        key = Key(recipe.seed).at(recipe.stage_name)
        players = {name: policy.player for name, policy in self.learners.items()}
        self.collectors: Sequence[Collector | SeatedCollector]
        self.overlap: Overlap | None = None
        self.agent: Player
        """Player of validations: the policy, or at each seat the policy of the seat."""
        if recipe.seats_of_learners:
            assert seated_collector is not None, "an algorithm with policies of seats collects them"
            self._seated = [seated_collector(game, players, key) for game in games]
            self.collectors = self._seated
            self.agent = SeatedPlayers(tuple(players_by_seat(players, recipe.seats_of_learners)))
            return
        [policy] = self.learners.values()
        self.overlap = Overlap(policy, self.num_steps) if recipe.overlap else None
        player = policy.player if self.overlap is None else self.overlap.player
        self._single = [self._collector(text, collector, player, key) for text in recipe.games]
        self.collectors = self._single
        self.agent = policy.player

    def _collector(
        self, text: str, make: Callable[[Game[Any], ModelPlayer, Key], Collector], player: ModelPlayer, key: Key
    ) -> Collector:
        """Make the collector of a game, or of a stream of games."""
        if not is_stream(text):
            return make(make_bounded_game(text), player, key)
        apart = drawn_digests(self.recipe.held_out_games)
        return StreamCollector(GameStream.read(text), lambda game, at: make(game, player, at), key.at(text), apart)

    def begin(self, step: int) -> Metrics:
        return self.evaluate(0) if not step else {}

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        reset_caches()
        if self.recipe.seats_of_learners:
            parts = [collector.collect_each(step) for collector in self._seated]
            for name in self.learners:
                batch = merge([part[name] for part in parts])
                metrics = {f"{name}/{metric}": value for metric, value in batch.metrics.items()}
                yield TrainingBatch(batch.episodes, name, training_data(batch), metrics)
            return
        batch = (
            self._collect(step)
            if self.overlap is None
            else self.overlap.take(step, self._collect, self._collector_states)
        )
        yield TrainingBatch(batch.episodes, "", training_data(batch), batch.metrics)

    def _collect(self, step: int) -> RolloutBatch:
        return merge([collector.collect(step) for collector in self._single])

    def _collector_states(self) -> list[dict[str, Any]]:
        return [collector.state() for collector in self.collectors]

    def evaluates(self, step: int) -> bool:
        return step % self.recipe.evaluate_every == 0 or step == self.num_steps

    def evaluate(self, step: int) -> Metrics:
        if self.overlap is not None:
            self.overlap.wait()
        reset_caches()
        save_policies(self.run, self.validated, self.recipe.sft_steps + step, self.agent)
        metrics = self.validation.metrics(self.agent)
        self.stopping.add(metrics)
        return metrics

    def is_settled(self) -> bool:
        return self.stopping.is_met

    def failed_validation(self) -> Sequence[Episode]:
        return self.validation.failed

    def score(self, metrics: Mapping[str, float]) -> float:
        return metrics["checkpoint_metric"]

    def saves(self, step: int) -> bool:
        return self.evaluates(step) or self.recipe.checkpoint_due(step)

    def state(self) -> dict[str, Any]:
        states = {name: policy.state() for name, policy in self.learners.items()}
        own: dict[str, Any] = {"policies": states} if self.recipe.seats_of_learners else {"policy": states[""]}
        own |= {"stopping": self.stopping.values} if self.recipe.stop else {}
        if self.overlap is None:
            return {**own, "collectors": self._collector_states()}
        return {**own, **self.overlap.state(self._collector_states)}

    def restore(self, state: State, folder: Path) -> None:
        states = state["policies"] if self.recipe.seats_of_learners else {"": state["policy"]}
        for name, policy in self.learners.items():
            policy.restore(states[name], folder / self._part(name))
        self.stopping.values = list(state.get("stopping", ()))
        for collector, saved in zip(self.collectors, state["collectors"], strict=True):
            collector.restore(saved)
        if self.overlap is not None:
            self.overlap.restore(state)

    def write(self, folder: Path) -> None:
        for name, policy in self.learners.items():
            (folder / self._part(name)).mkdir(exist_ok=True)
            policy.write(folder / self._part(name))

    def _part(self, name: str) -> str:
        """Return the folder of a policy in a checkpoint: whole models of several have one each."""
        return name if self.recipe.train == "all" else ""

    def publish(self, run: RunFolder, best: int | None) -> None:
        models: dict[str, RunModel] = {}
        for name, base in self.recipe.bases_by_learner.items():
            own = self.artifacts[base]
            steps = own.checkpoints(name or POLICY, after=self.recipe.sft_steps, part=self._part(name))
            models |= label_models(SavedModels(*own.base_and_start(), steps, best), name)
        publish(run, models, decoding_settings(self.recipe))

    def final_evaluation(self, best: int | None) -> None:
        final, titles = Final.of(self.recipe, self.tested), self._titles(best)
        final.write(self.run, titles, decoding_settings(self.recipe), policies=self.learners)

    def _titles(self, best: int | None) -> dict[str, str]:
        """Return the labels of the evaluated models, each with its title in reports."""
        titles: dict[str, str] = {}
        for name, base in self.recipe.bases_by_learner.items():
            last = max(
                self.artifacts[base].checkpoints(name or POLICY, self.recipe.sft_steps, self._part(name)),
                default=self.recipe.steps,
            )
            own = self._titles_of_steps(best, last)
            titles |= {f"{label}/{name}": f"{name}: {title}" for label, title in own.items()} if name else own
        return titles

    def _titles_of_steps(self, best: int | None, last: int) -> dict[str, str]:
        title, before = self.recipe.title, self.recipe.sft_steps
        titles = {"base": "Base"} | ({"start": "SFT"} if before else {})
        titles |= {str(best): f"{title} (step {best - before})"} if best is not None else {}
        titles |= {str(last): f"{title}, last (step {last - before})"} if best != last else {}
        return titles
