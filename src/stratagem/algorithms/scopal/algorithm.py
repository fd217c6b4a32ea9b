"""SCO-PAL: step-level policy optimization from self-play outcomes. An iteration has three stages.

    I    Interaction: the policy plays against itself or opponents.
    II   Reward: the win rate of each action in each state, `r(s, a) = wins(s, a) / plays(s, a)`, less a threshold.
    III  Refinement: cloning of advantageous steps, then KTO or another method (`methods.py`).

Each block of games is saved with a checkpoint. The table of steps and the samples are computed again after a resume.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.algorithms.scopal.decision_table import check_record, read_decisions
from stratagem.algorithms.scopal.interaction import SELF, Interaction
from stratagem.algorithms.scopal.policy import Refinement, ScopalPolicy
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.scopal.samples import ReplyFormat, Samples, make_samples
from stratagem.algorithms.scopal.steps import Steps, make_steps, read_steps, summarize, write_steps
from stratagem.games.base import Game
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.engines.caches import reset_caches
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.advantages.base import Decisions
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.measure.matchups import Evaluator
from stratagem.measure.suites import CONTEST_METRICS, Suite, SuiteLine
from stratagem.players.catalogue import make_player
from stratagem.players.pools import make_bot
from stratagem.training.algorithm import Algorithm
from stratagem.training.by_game import check_names, warn_of_broken_rules
from stratagem.training.evaluation import Final, save_policies
from stratagem.training.policy import TrainingData
from stratagem.training.runs.files import write_file
from stratagem.training.runs.folder import RunFolder
from stratagem.training.stage import Metrics, Stage, State, TrainingBatch, TrainingSubject

STEPS = "steps"
"""Folder of the tables of steps."""


class ScopalAlgorithm(Algorithm[ScopalRecipe]):
    """Iterations of play and refinement."""

    recipe_type = ScopalRecipe

    def check(self) -> None:
        recipe, games = self.recipe, [make_bounded_game(text) for text in self.recipe.games]
        check_names(games)
        warn_of_broken_rules(games)
        recipe.reference.check_device()
        make_style(recipe.style)
        interaction, evaluation = recipe.interaction, recipe.final_evaluation
        names = {*interaction.opponents, *interaction.teachers, *evaluation.opponents} - {SELF}
        for game, name in product(games, sorted(names)):
            make_bot(name, game, {SELF: make_player("random", game)})
        zeros = np.zeros(2, dtype=np.int64)
        decisions = Decisions(episode=zeros, state=zeros, action=np.arange(2), outcome=np.array([1.0, 0.0]))
        read_advantage(recipe.reward.step_reward).value(decisions)
        for folder in map(Path, recipe.interaction.records):
            check_record(folder)
        if recipe.reward.table:
            read_steps(Path(recipe.reward.table))

    @property
    def num_steps(self) -> int:
        return 0

    def stages(self) -> Sequence[Callable[[], Stage]]:
        shared = RunState(self.recipe, self.run, strict=self.strict)
        made: list[Callable[[], Stage]] = []
        for iteration in range(self.recipe.iterations):
            made.append(partial(Play, shared, iteration))
            made += [partial(Refine, shared, iteration, number) for number in range(len(self.recipe.refine))]
        return made


class RunState:
    """Policy and samples that the stages of a run share; each is made at its first use."""

    def __init__(self, recipe: ScopalRecipe, run: RunFolder, *, strict: bool) -> None:
        """`strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.strict = strict
        self.key = Key(recipe.seed).at("scopal")
        self.games: list[Game[Any]] = [make_bounded_game(text) for text in recipe.games]
        self._policy: ScopalPolicy | None = None
        self._samples: tuple[int, Samples] | None = None

    @property
    def policy(self) -> ScopalPolicy:
        """Policy under training."""
        if self._policy is None:
            self._policy = ScopalPolicy(self.recipe, self.run, strict=self.strict)
        return self._policy

    def samples(self, iteration: int) -> Samples:
        """Return the samples of an iteration's games."""
        if self._samples is None or self._samples[0] != iteration:
            steps = steps_table(self.recipe, self.run, iteration)
            rng = np.random.default_rng(self.key.at("samples", iteration).value)
            reply_format = ReplyFormat(make_style(self.recipe.style), self.recipe.mode)
            samples = make_samples(steps, self.policy.engine, reply_format, self.recipe.samples, rng)
            self._samples = (iteration, samples)
        return self._samples[1]


def steps_table(recipe: ScopalRecipe, run: RunFolder, iteration: int) -> Steps:
    """Return the step rewards (stage II): the table that the recipe names, or a new one of an iteration's games."""
    if recipe.reward.table:
        return read_steps(Path(recipe.reward.table))
    path = run.path / STEPS / f"{iteration}.parquet"
    folders = [Path(folder) for folder in recipe.interaction.records] or [run.record]
    table = read_decisions(folders, recipe.reward.players, prefix="" if recipe.interaction.records else f"{iteration}/")
    steps = make_steps(table, folders, read_advantage(recipe.reward.step_reward).value)
    write_steps(steps, path)
    write_file(path.with_suffix(".json"), json.dumps(summarize(steps), indent=1) + "\n")
    return steps


class ScopalStage(Stage):
    """Stage of SCO-PAL: all stages share one policy, which is in every checkpoint."""

    def __init__(self, shared: RunState, iteration: int) -> None:
        self.shared = shared
        self.recipe = shared.recipe
        self.run = shared.run
        self.policy = shared.policy
        self.policies = {}
        self.iteration = iteration

    def subjects(self) -> list[TrainingSubject]:
        return [self.policy.subject]

    def state(self) -> dict[str, Any]:
        return self.policy.state()

    def restore(self, state: State, folder: Path) -> None:
        self.policy.restore(state, folder)

    def write(self, folder: Path) -> None:
        self.policy.write(folder)

    def publish(self, run: RunFolder, best: int | None) -> None:
        self.policy.publish_models()

    def final_evaluation(self, best: int | None) -> None:
        settings, titles = self.recipe.final_evaluation, self.policy.titles()
        all_stages = settings.stages == "all"
        lines = tuple(SuiteLine(describe(game), {"opponents": settings.opponents}) for game in self.shared.games)
        suite = Suite("scopal", "A training run's games.", lines, CONTEST_METRICS, settings.episodes)
        key = Key(self.recipe.seed).at("test")
        evaluator = Evaluator(settings.episodes, key, exact_budget=0)  # no induction over boards
        shown = titles if all_stages else dict([list(titles.items())[-1]])
        Final(suite, evaluator, self.recipe.seed, chance=all_stages).write(
            self.run, shown, self.policy.decoding_settings(settings.temperature), policies={"": self.policy}
        )


class Play(ScopalStage):
    """Stage I: games between the policy and its opponents; a step is a block of games."""

    def __init__(self, shared: RunState, iteration: int) -> None:
        super().__init__(shared, iteration)
        settings = self.recipe.interaction
        key, again = shared.key.at("interaction", iteration), iteration > 0 and not settings.teachers
        earlier = self.policy.earlier(iteration) if again else None
        self.interaction = Interaction(settings, shared.games, self.policy.player, key, str(iteration), earlier)
        given = settings.records or self.recipe.reward.table
        self.num_steps = 0 if given else len(self.interaction.blocks)

    def begin(self, step: int) -> Metrics:
        if not step and not self.iteration:
            reset_caches()
            save_policies(self.run, self.shared.games, 0, self.policy.player)
        return {}

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        block = self.interaction.blocks[step]
        episodes = self.interaction.play(block)
        decisions = sum(len(episode.decisions) for episode in episodes)
        illegal = sum(sum(episode.num_illegal) for episode in episodes)
        metrics = {f"{block.game.figure_name}/decisions": float(decisions / len(episodes))}
        metrics[f"{block.game.figure_name}/illegal_rate"] = illegal / max(1, decisions)
        yield TrainingBatch(episodes, metrics=metrics)

    def saves(self, step: int) -> bool:
        return True

    def finish(self, step: int) -> None:
        if not self.recipe.refine:
            steps_table(self.recipe, self.run, self.iteration)


class Refine(ScopalStage):
    """Stage III: one method of refinement on the samples of an iteration's games."""

    def __init__(self, shared: RunState, iteration: int, number: int) -> None:
        super().__init__(shared, iteration)
        self.number = number
        self.method = self.recipe.refine[number]
        self.policies = {self.method: self.policy}
        self.key = shared.key.at("refine", iteration, number)
        settings = self.recipe.stage(self.method)
        self.refinement = Refinement(self.method, shared.samples(iteration), settings, self.key)
        self.num_steps = self.refinement.num_steps

    def begin(self, step: int) -> Metrics:
        before = self.iteration * len(self.recipe.refine) + self.number
        self.policy.refine(self.method, self.refinement, self.key, before, fresh=not step)
        self._batches = self.refinement.batches(step)
        return {}

    def batches(self, step: int) -> Iterator[TrainingBatch]:
        yield TrainingBatch(policy=self.method, data=TrainingData(next(self._batches)))

    def saves(self, step: int) -> bool:
        return not step % self.recipe.checkpoint_every

    def finish(self, step: int) -> None:
        self.policy.finish_refinement(step, self.method)
        reset_caches()
        save_policies(self.run, self.shared.games, step, self.policy.player)
        if self.number == len(self.recipe.refine) - 1 and not self.recipe.interaction.teachers:
            self.policy.save_as_opponent(self.iteration)
