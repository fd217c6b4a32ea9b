"""A run from start to end: the warm start, iterations with a validation now and then, and a last table.

All that is random follows from the seed and the place in the run, so a run that was killed goes on from its newest
checkpoint as if it had never stopped.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from stratagem.algorithms.collected import Collected, Collects, joined
from stratagem.algorithms.held import Held
from stratagem.algorithms.kept_policies import keep_policies
from stratagem.algorithms.own_base import BASE, load_own, make_own_base
from stratagem.algorithms.policy_recipe import PolicyRecipe
from stratagem.algorithms.possible import check_prompts
from stratagem.algorithms.progress import Progress, nobody
from stratagem.algorithms.trained import Trained
from stratagem.algorithms.validation import Validation, judged
from stratagem.algorithms.warm_start import WarmStart, check_teacher
from stratagem.engines.renewal import renew
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learning.gradient_signal import measured
from stratagem.learning.monitor import TrainingMonitor
from stratagem.models.run_models import own_name
from stratagem.play.store import write_shard
from stratagem.players.model_player import ModelPlayer
from stratagem.runs.checkpoint import Checkpoint, keep, latest
from stratagem.runs.files import write_file
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import MetricLog
from stratagem.runs.resume import resume

FINDINGS, EVALUATION = "findings.json", "evaluation.json"
"""Where a run keeps what the checks found, and its last table."""


R = TypeVar("R", bound=PolicyRecipe)


class Trainer(ABC, Generic[R]):
    """One run of one recipe; what an iteration plays and teaches is the algorithm's."""

    def __init__(self, recipe: R, run: RunFolder, progress: Progress = nobody, *, strict: bool = False) -> None:
        """`strict` stops at what a check finds; by default it is warned of once and counted."""
        self.recipe = recipe
        self.run = run
        self.progress = progress
        self.monitor = TrainingMonitor(strict=strict)
        self.games = [make_game(text) for text in recipe.games]
        check_teacher(recipe.sft, self.games)
        check_prompts(recipe, self.games)
        self.check()
        self.validation = Validation(recipe, self.games)
        self.held = Held(recipe, run)

    @abstractmethod
    def check(self) -> None:
        """Refuse games in which this cannot be trained."""

    @abstractmethod
    def collector(self, game: Game[Any], hero: ModelPlayer, key: Key) -> Collects:
        """What plays a game, and makes examples of it."""

    def train(self) -> None:
        """Begin, or go on from the newest checkpoint."""
        with self.run.at_work():
            start = resume(self.run, self.recipe)
            keep(self.run, last=2)
            with MetricLog(self.run) as log:
                self._warm_start(start, log)
                self._iterations(log)
            self._judge()

    def _tell(self, step: int, figures: dict[str, float]) -> None:
        self.progress(step, self.recipe.steps, figures)

    def _warm_start(self, start: Checkpoint | None, log: MetricLog) -> None:
        settings = self.recipe.sft
        if (self.run.path / BASE).is_dir():
            return
        if settings is not None and self.recipe.sft_steps:
            WarmStart(self.recipe, settings, self.run, self.games).make(start, log, self._tell)
        else:
            make_own_base(self.run, self.recipe.model)

    def _iterations(self, log: MetricLog) -> None:
        """Play, learn, and now and then measure and keep."""
        start = latest(self.run)
        trained = Trained(self.recipe, load_own(self.run, self.held.base))
        key, iterations = Key(self.recipe.seed).at(self.recipe.stage_name), self.recipe.stage.iterations
        heroes = [self.collector(game, trained.hero, key) for game in self.games]
        if start is not None and start.step > self.recipe.sft_steps:
            self._restore(trained, heroes, start.restore(), start.folder)
        self.held.publish()
        self._say_findings()
        if not trained.taken:
            log.write(self.recipe.sft_steps, self._validated(trained))
        while trained.taken < iterations:
            figures = self._iterate(heroes, trained)
            if measured := trained.taken % self.recipe.evaluate_every == 0 or trained.taken == iterations:
                figures |= self._validated(trained)
            step = self._step(trained)
            log.write(step, figures)
            if measured:
                self.held.score(step, figures["checkpoint_metric"])
            if measured or self.recipe.keeps(trained.taken):
                self._keep(trained, heroes, step)
            self._tell(step, figures)

    def _step(self, trained: Trained) -> int:
        return self.recipe.sft_steps + trained.taken

    def _restore(self, trained: Trained, heroes: list[Collects], state: dict[str, Any], folder: Path) -> None:
        trained.restore(state["trained"], folder)
        for hero, kept in zip(heroes, state["heroes"], strict=True):
            hero.restore(kept)
        self.monitor.restore(state["monitor"])
        self.held.restore(state["held"])

    def _keep(self, trained: Trained, heroes: list[Collects], step: int) -> None:
        """A checkpoint, marked if it is the best so far."""
        state = {
            "trained": trained.state(),
            "heroes": [hero.state() for hero in heroes],
            "monitor": self.monitor.state(),
            "held": self.held.state(),
        }
        self.held.save(step, state, trained.writes())
        self._say_findings()

    def _say_findings(self) -> None:
        found = {name: asdict(finding) for name, finding in self.monitor.findings().items()}
        write_file(self.run.path / FINDINGS, json.dumps(found, indent=1) + "\n")

    def _validated(self, trained: Trained) -> dict[str, float]:
        renew()
        keep_policies(self.run.path, self.games, self._step(trained), trained.hero)
        return self.validation.figures(trained.hero)

    def _iterate(self, heroes: list[Collects], trained: Trained) -> dict[str, float]:
        """Collect, keep the record, learn."""
        renew()
        collected = joined([hero.collect(trained.taken) for hero in heroes])
        write_shard(self.run.record, trained.taken, collected.episodes)
        return collected.figures | self._learnt(collected, trained)

    def _learnt(self, collected: Collected, trained: Trained) -> dict[str, float]:
        """One step, watched; a batch that teaches nothing is a step, too."""
        if not collected.examples:
            found = self.monitor.check_skipped_batch(trained.taken, counts=collected.counts)
            trained.skip()
            return {f"checks/{name}": 1.0 for name in found}
        figures = self._signals(collected, trained)
        reports = trained.learn(collected.examples)
        found = self.monitor.check_steps(trained.learner, reports, counts=collected.counts)
        figures |= {f"checks/{name}": 1.0 for name in found}
        for report in reports:
            figures |= {"loss": report.loss, "grad_norm": report.grad_norm, "learning_rate": report.learning_rate}
            figures |= {f"loss/{name}": value for name, value in report.metrics.items()}
        return figures

    def _signals(self, collected: Collected, trained: Trained) -> dict[str, float]:
        """What each term of the reward brings, every few iterations."""
        every = self.recipe.signal_every
        if not every or trained.taken % every:
            return {}
        found = measured(trained.learner, collected.examples)
        self.monitor.signal_to_noise.add({name: one for name, one in found.items() if name not in collected.uncharged})
        figures = {}
        for name, signal in found.items():
            figures[f"signal/{name}/dot"] = signal.dot
            figures[f"signal/{name}/noise"] = signal.noise
            figures[f"signal/{name}/ratio"] = 2.0 * signal.dot / signal.noise if signal.noise else 0.0
        return figures

    def _judge(self) -> None:
        """The last table: what the run began with, made of it, chose and ended with, on deals of its own."""
        path = self.run.path / EVALUATION
        if path.is_file():
            return
        renew()
        rows = self.held.rows()
        table: Json = {
            "rows": {own_name(label): title for label, title in rows.items()},
            "evaluation": judged(self.recipe, self.games, {label: self.held.player(label) for label in rows}),
        }
        write_file(path, json.dumps(table, indent=1) + "\n")
