"""A run of SCO-PAL: games, what their steps are worth, and stages of refinement; then what each stage made of the base.

Every block of games and every so many steps of refinement are kept with a checkpoint, so a run that was killed goes on
from there as if it had never stopped. What is worked out from the games (the table of steps, the samples) is worked out
again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np

from stratagem.algorithms.kept_policies import keep_policies
from stratagem.algorithms.progress import Progress, nobody
from stratagem.algorithms.scopal.decision_table import check_record, read_decisions
from stratagem.algorithms.scopal.interaction import Block, Interaction
from stratagem.algorithms.scopal.judge import judged
from stratagem.algorithms.scopal.learner_model import LearnerModel
from stratagem.algorithms.scopal.methods import CLONING
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.scopal.refinement import Refinement
from stratagem.algorithms.scopal.samples import Samples, Wording, samples_of
from stratagem.algorithms.scopal.settings import SELF
from stratagem.algorithms.scopal.steps import Steps, read_steps, steps_of, write_steps
from stratagem.algorithms.scopal.summary import summed_up
from stratagem.engines.renewal import renew
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learning.advantages.base import Decisions
from stratagem.learning.advantages.catalogue import read_advantage
from stratagem.learning.monitor import TrainingMonitor
from stratagem.play.store import write_shard
from stratagem.players.catalogue import make_player
from stratagem.prompting.catalogue import make_style
from stratagem.runs.checkpoint import keep, save_checkpoint
from stratagem.runs.files import write_file
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import MetricLog
from stratagem.runs.resume import resume

FINDINGS, EVALUATION, STEPS = "findings.json", "evaluation.json", "steps"
"""Where a run keeps what the checks found, its last table, and its tables of steps."""


@dataclass(frozen=True)
class Place:
    """Where a run stands."""

    iteration: int = 0
    stage: int = -1
    """The number of the stage of refinement; -1 is play."""
    done: int = 0
    """Blocks or steps of it."""


def steps_table(recipe: ScopalRecipe, run: RunFolder, iteration: int) -> Steps:
    """Stage II: the table that the recipe names, or what the games of an iteration make, which the run keeps."""
    if recipe.reward.table:
        return read_steps(Path(recipe.reward.table))
    path = run.path / STEPS / f"{iteration}.parquet"
    folders = [Path(folder) for folder in recipe.interaction.records] or [run.record]
    table = read_decisions(folders, recipe.reward.players, prefix="" if recipe.interaction.records else f"{iteration}/")
    steps = steps_of(table, folders, read_advantage(recipe.reward.credit).made)
    write_steps(steps, path)
    write_file(path.with_suffix(".json"), json.dumps(summed_up(steps), indent=1) + "\n")
    return steps


class ScopalTrainer:
    """One run of one recipe."""

    def __init__(
        self, recipe: ScopalRecipe, run: RunFolder, progress: Progress = nobody, *, strict: bool = False
    ) -> None:
        """`strict` stops at what a check finds; by default it is warned of once and counted."""
        self.recipe = recipe
        self.run = run
        self.progress = progress
        self.monitor = TrainingMonitor(strict=strict)
        self.key = Key(recipe.seed).at("scopal")
        self.games = [make_game(text) for text in recipe.games]
        self._check()
        self.step = 0
        self.place = Place()

    def _check(self) -> None:
        """Refuse what a stage could not use, before anything is played or written."""
        recipe = self.recipe
        make_style(recipe.style)
        names = {*recipe.interaction.opponents, *recipe.interaction.teachers, *recipe.judge.opponents} - {SELF}
        for game, name in product(self.games, sorted(names)):
            make_player(name, game)
        nought = np.zeros(2, dtype=np.int64)
        two = Decisions(episode=nought, state=nought, action=np.arange(2), outcome=np.array([1.0, 0.0]))
        read_advantage(recipe.reward.credit).made(two)
        for folder in map(Path, recipe.interaction.records):
            check_record(folder)
        if recipe.reward.table:
            read_steps(Path(recipe.reward.table))

    def train(self) -> None:
        """Begin, or go on from the newest checkpoint."""
        with self.run.at_work():
            start = resume(self.run, self.recipe)
            keep(self.run, last=2)
            self.model = LearnerModel(self.recipe, self.run)
            if start is not None:
                state = start.restore()
                self.step, self.place = start.step, Place(**state["place"])
                self.model.restore(state["model"], start.folder)
                self.monitor.restore(state["monitor"])
            with MetricLog(self.run) as log:
                if not self.step:
                    self._keep_policies()
                for iteration in range(self.place.iteration, self.recipe.iterations):
                    self._iterate(iteration, log)
            judged(self.recipe, self.games, self.model, self.run.path / EVALUATION)

    def _iterate(self, iteration: int, log: MetricLog) -> None:
        if self.place.stage < 0:
            self._play(iteration, log)
        if not self.recipe.refine:
            steps_table(self.recipe, self.run, iteration)
            return
        samples = self._samples(iteration)
        for stage in range(max(0, self.place.stage), len(self.recipe.refine)):
            self._refine(iteration, stage, samples, log)

    # --- stage I

    def _play(self, iteration: int, log: MetricLog) -> None:
        """The games that are still to be played, block by block."""
        if self.recipe.interaction.records or self.recipe.reward.table:
            self.place = Place(iteration, 0)
            return
        interaction = self._interaction(iteration)
        for block in interaction.blocks[self.place.done :]:
            episodes = interaction.play(block)
            write_shard(self.run.record, self._shard(interaction, block, iteration), episodes)
            decisions = sum(len(episode.decisions) for episode in episodes)
            illegal = sum(sum(episode.num_illegal) for episode in episodes)
            figures = {f"{block.game.spec.name}/decisions": float(decisions / len(episodes))}
            figures[f"{block.game.spec.name}/illegal_rate"] = illegal / max(1, decisions)
            self._took(figures, log)
            self.place = Place(iteration, -1, block.number + 1)
            self._keep()
        self.place = Place(iteration, 0)

    def _interaction(self, iteration: int) -> Interaction:
        settings, key = self.recipe.interaction, self.key.at("interaction", iteration)
        earlier = self.model.earlier(iteration) if iteration else None
        return Interaction(settings, self.games, self.model.player(), key, str(iteration), earlier)

    def _shard(self, interaction: Interaction, block: Block, iteration: int) -> int:
        return iteration * len(interaction.blocks) + block.number

    # --- stages II and III

    def _samples(self, iteration: int) -> Samples:
        steps = steps_table(self.recipe, self.run, iteration)
        rng = np.random.default_rng(self.key.at("samples", iteration).value)
        wording = Wording(make_style(self.recipe.style), self.recipe.mode)
        return samples_of(steps, self.model.engine, wording, self.recipe.samples, rng)

    def _refine(self, iteration: int, stage: int, samples: Samples, log: MetricLog) -> None:
        method = self.recipe.refine[stage]
        key = self.key.at("refine", iteration, stage)
        refinement = Refinement(method, samples, self.recipe.stage(method), key)
        done = self.place.done if self.place.stage == stage else 0
        learner = self.model.learner(refinement, key, fresh=not done)
        if not done:
            self.monitor.reset(0)
        meant = ("collapse",) if method in CLONING else ()
        for number, batch in enumerate(refinement.batches(done), done + 1):
            report = learner.step(batch)
            found = self.monitor.check_steps(learner, [report], skip=meant)
            figures = {
                f"{method}/loss": report.loss,
                f"{method}/grad_norm": report.grad_norm,
                f"{method}/learning_rate": report.learning_rate,
            }
            figures |= {f"{method}/{name}": value for name, value in report.metrics.items()}
            figures |= {f"checks/{name}": 1.0 for name in found}
            self._took(figures, log, loss=report.loss)
            if number == refinement.steps:
                self._staged(iteration, stage)
            else:
                self.place = Place(iteration, stage, number)
            if number == refinement.steps or not number % self.recipe.checkpoint_every:
                self._keep()

    def _staged(self, iteration: int, stage: int) -> None:
        """A stage is over; with the last one the iteration is, too."""
        self.model.staged(self.step, self.recipe.refine[stage])
        self._keep_policies()
        self.place = Place(iteration, stage + 1)
        if stage + 1 == len(self.recipe.refine):
            self.model.remember(iteration)
            self.place = Place(iteration + 1)

    # --- what is kept

    def _keep_policies(self) -> None:
        renew()
        keep_policies(self.run.path, self.games, self.step, self.model.player())

    def _took(self, figures: dict[str, float], log: MetricLog, **told: float) -> None:
        self.step += 1
        log.write(self.step, figures)
        self.progress(self.step, 0, figures | told)

    def _keep(self) -> None:
        state = {"place": asdict(self.place), "model": self.model.state(), "monitor": self.monitor.state()}
        save_checkpoint(self.run, self.step, state, write=self.model.writes())
        keep(self.run, last=2)
        found = {name: asdict(finding) for name, finding in self.monitor.findings().items()}
        write_file(self.run.path / FINDINGS, json.dumps(found, indent=1) + "\n")
        self.model.publish()
