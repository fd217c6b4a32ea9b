"""A run from start to end: the warm start, then SEPO's iterations, with a measurement and a checkpoint now and then.

All that is random follows from the seed and the place in the run, so a run that was killed goes on from its newest
checkpoint as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from stratagem.algorithms.demonstrations import demonstrations
from stratagem.algorithms.recipe import Recipe
from stratagem.algorithms.sepo import SEPO
from stratagem.algorithms.sft import SFTSettings, demonstrated, sft
from stratagem.engines.base import Sampling
from stratagem.engines.transformers_engine import TransformersEngine
from stratagem.errors import CannotCompute
from stratagem.evaluation.exact import exact
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learning.checks import Seen, Watch
from stratagem.learning.learner import Learner
from stratagem.learning.losses.cross_entropy import CrossEntropy
from stratagem.learning.optimiser import Optimiser
from stratagem.learning.policy import Policy
from stratagem.models.adapters import adapter_parameters, add_adapter
from stratagem.models.load import LanguageModel, load
from stratagem.play.store import write_shard
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.prompting.catalogue import make_style
from stratagem.runs.checkpoint import Checkpoint, keep, latest, save_checkpoint
from stratagem.runs.files import new_folder
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import MetricLog
from stratagem.runs.resume import resume
from stratagem.runs.weights import MODEL, restore_weights, writes_adapters, writes_model

Progress = Callable[[int, int, dict[str, float]], None]
"""Told after every step: which it was, of how many, and what was seen."""
POLICY = "policy"
BASE = "base"
"""Where a run keeps the model that the warm start made: `dir:RUN/base/model`."""


class Trainer:
    """One run of one recipe."""

    def __init__(
        self, recipe: Recipe, run: RunFolder, progress: Progress = lambda *_: None, *, strict: bool = False
    ) -> None:
        """`strict` stops at what a check finds; by default it is warned of once and counted."""
        self.recipe = recipe
        self.run = run
        self.progress = progress
        self.watch = Watch(strict=strict)
        self.game = make_game(recipe.game)
        self.key = Key(recipe.seed)

    def train(self) -> None:
        """Begin, or go on from the newest checkpoint."""
        with self.run.at_work():
            start = resume(self.run)
            keep(self.run, last=2)
            with MetricLog(self.run) as log:
                if self.recipe.warm_start is not None and not self._base.is_dir():
                    self._warm_start(self.recipe.warm_start, start, log)
                self._sepo(log)

    @property
    def _base(self) -> Path:
        return self.run.path / BASE

    def _load(self) -> LanguageModel:
        return load(f"dir:{self._base / MODEL}" if self._base.is_dir() else self.recipe.model)

    def _hero(self, engine: TransformersEngine) -> ModelPlayer:
        recipe = self.recipe
        speaker = Speaker(
            engine=engine,
            adapter=POLICY,
            style=make_style(recipe.style),
            sampling=Sampling(temperature=recipe.temperature),
            max_new=recipe.max_new,
        )
        hero = ModelPlayer(name=POLICY, speaker=speaker, mode=recipe.mode)
        hero.check(self.game)
        return hero

    def _warm_start(self, settings: SFTSettings, start: Checkpoint | None, log: MetricLog) -> None:
        """Stage one: the base learns what demonstrators said, and is kept."""
        lm = self._load()
        lm.model.requires_grad_(True)
        engine = TransformersEngine(lm)
        found = demonstrations(self.game, settings.examples, self.key, style=self.recipe.style)
        examples = [demonstrated(engine, one.messages, one.reply) for one in found if not one.held_out]
        steps = settings.steps(len(examples))
        optimiser = Optimiser(lm.model.parameters(), settings.optimiser, steps)
        learner = Learner(Policy(lm, budget=self.recipe.budget), CrossEntropy(), optimiser, adapter=None)
        if start is not None:
            optimiser.restore(start.restore()["optimiser"])
            restore_weights(lm, start.folder)
        for report in sft(learner, examples, settings, self.key.at("warm start")):
            step = optimiser.taken
            log.write(step, {"sft/loss": report.loss, "sft/norm": report.norm, "sft/rate": report.rate})
            self.progress(step, self._total(steps), {"loss": report.loss})
            if step % (10 * self.recipe.evaluate_every) == 0 or step == steps:
                state = {"optimiser": optimiser.state(), "warm_steps": steps}
                self._save(step, state, writes_model(lm))
        lm.model.requires_grad_(False)
        new_folder(self._base, writes_model(lm))

    def _save(self, step: int, state: dict[str, Any], write: Callable[[Path], None]) -> None:
        save_checkpoint(self.run, step, state, write=write)
        keep(self.run, last=2)

    def _total(self, warm_steps: int) -> int:
        return warm_steps + self.recipe.sepo.iterations

    def _sepo(self, log: MetricLog) -> None:
        """Stage two: an adapter on the base plays, and learns from what it played."""
        settings, start = self.recipe.sepo, latest(self.run)
        before = start.state()["warm_steps"] if start is not None else 0
        lm = self._load()
        add_adapter(lm, POLICY, self.recipe.adapter.rank, self.recipe.adapter.alpha, seed=self.recipe.seed)
        optimiser = Optimiser(adapter_parameters(lm, POLICY), settings.optimiser, settings.iterations)
        if start is not None:
            state = start.restore()
            if start.step > before:
                optimiser.restore(state["optimiser"])
                restore_weights(lm, start.folder)
        engine = TransformersEngine(lm)
        hero = self._hero(engine)
        policy = Policy(lm, budget=self.recipe.budget)
        learner = Learner(policy, settings.loss(), optimiser, adapter=POLICY)
        sepo = SEPO(settings, self.game, hero, self.key.at("sepo"))
        if start is None or start.step == before:
            log.write(before, self._measured(hero))
        while optimiser.taken < settings.iterations:
            figures = self._iterate(sepo, learner)
            engine.publish(POLICY, optimiser.taken)
            if due := optimiser.taken % self.recipe.evaluate_every == 0 or optimiser.taken == settings.iterations:
                figures |= self._measured(hero)
            step = before + optimiser.taken
            log.write(step, figures)
            self.progress(step, self._total(before), figures)
            if due:
                state = {"optimiser": optimiser.state(), "warm_steps": before}
                self._save(step, state, writes_adapters(lm, [POLICY]))

    def _iterate(self, sepo: SEPO, learner: Learner) -> dict[str, float]:
        """Collect, keep the record, learn."""
        collected = sepo.collect(learner.optimiser.taken)
        write_shard(self.run.record, learner.optimiser.taken, collected.episodes)
        figures = dict(collected.figures)
        if collected.examples:
            known = learner.prepared(collected.examples)
            report = learner.update(known)
            seen = Seen(step=learner.optimiser.taken - 1, report=report, examples=known, counts=collected.counts)
            figures |= {f"checks/{name}": 1.0 for name in self.watch.look(seen)}
            figures |= {"loss": report.loss, "norm": report.norm, "rate": report.rate}
            figures |= {f"loss/{name}": value for name, value in report.metrics.items()}
        else:
            learner.optimiser.step()
        return figures

    def _measured(self, hero: ModelPlayer) -> dict[str, float]:
        """The exact exploitability, where it can be had, in the game's own unit."""
        try:
            found = exact(self.game, hero)
        except CannotCompute:
            return {}
        return {"exact/exploitability": found.exploitability, "exact/worst_advantage": found.worst_advantage}
