"""A run's first stage: the base learns what demonstrators said, and is kept as what the next stage starts from.

All weights learn, or an adapter that is merged into them at the end; either way the run has a base of its own,
`RUN/base/model`, and later stages never change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from stratagem.algorithms.demonstrations import demonstrations
from stratagem.algorithms.imitation import imitated
from stratagem.algorithms.own_base import BASE
from stratagem.algorithms.policy_recipe import PolicyRecipe
from stratagem.algorithms.sft import SFTStageSettings, demonstrated, sft
from stratagem.algorithms.trained import hero_of
from stratagem.engines.transformers_engine import TransformersEngine
from stratagem.games.base import Game
from stratagem.games.key import Key
from stratagem.learning.example import Example
from stratagem.learning.learner import Learner
from stratagem.learning.losses.cross_entropy import CrossEntropy
from stratagem.learning.optimizer import Optimizer
from stratagem.learning.policy import Policy
from stratagem.models.language_model import LanguageModel
from stratagem.models.load import load
from stratagem.models.merging import merged
from stratagem.players.catalogue import make_player
from stratagem.prompting.catalogue import make_style
from stratagem.runs.checkpoint import Checkpoint, keep, save_checkpoint
from stratagem.runs.files import new_folder
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import MetricLog
from stratagem.runs.weights import restore_weights, sealed, writes_adapters, writes_model

ADAPTER = "warm"
Tell = Callable[[int, dict[str, float]], None]
"""Told after every step: which it was, and what was seen."""


def check_teacher(settings: SFTStageSettings | None, games: Sequence[Game[Any]]) -> None:
    """Refuse a teacher that there is not, or that does not play these games, before anything is learnt."""
    if settings is not None and settings.teacher:
        for game in games:
            make_player(settings.teacher, game)


class WarmStart:
    """Makes a run's base, or goes on making it."""

    def __init__(
        self, recipe: PolicyRecipe, settings: SFTStageSettings, run: RunFolder, games: Sequence[Game[Any]]
    ) -> None:
        self.recipe = recipe
        self.settings = settings
        self.run = run
        self.games = games
        self.key = Key(recipe.seed)

    def make(self, start: Checkpoint | None, log: MetricLog, tell: Tell) -> None:
        """Learn, and keep the base; a base appears whole or not at all."""
        lm = load(self.recipe.model)
        engine = TransformersEngine(lm)
        hero_of(self.recipe, engine)  # which says what it could not play when it has learnt
        optimizer = Optimizer(self._weights(lm), self.settings.optimizer, self.recipe.sft_steps)
        units = list(self._units(engine))
        if start is not None:
            optimizer.restore(start.restore()["optimizer"])
            restore_weights(lm, start.folder)
        for report in sft(self._learner(lm, optimizer), units, self.settings, self.key.at("warm start")):
            step = optimizer.taken
            log.write(
                step,
                {"sft/loss": report.loss, "sft/grad_norm": report.grad_norm, "sft/learning_rate": report.learning_rate},
            )
            tell(step, {"loss": report.loss})
            if step % (10 * self.recipe.evaluate_every) == 0 or step == self.recipe.sft_steps:
                save_checkpoint(self.run, step, {"optimizer": optimizer.state()}, write=self._writes(lm))
                keep(self.run, last=2)
        if self.settings.adapter is not None:
            merged(lm, ADAPTER)
        lm.model.requires_grad_(False)
        new_folder(self.run.path / BASE, sealed(writes_model(lm)))

    def _weights(self, lm: LanguageModel) -> Sequence[Any]:
        """What learns."""
        adapter = self.settings.adapter
        if adapter is None:
            lm.model.requires_grad_(True)
            return list(lm.model.parameters())
        return adapter.add(lm, ADAPTER, self.recipe.seed)

    def _learner(self, lm: LanguageModel, optimizer: Optimizer) -> Learner:
        policy = Policy(
            lm,
            max_tokens_per_microbatch=self.recipe.max_tokens_per_microbatch,
            gradient_checkpointing=self.recipe.gradient_checkpointing,
        )
        adapter = ADAPTER if self.settings.adapter else None
        return Learner(policy, CrossEntropy(), optimizer, adapter=adapter, key=self.key.at("dropout"))

    def _units(self, engine: TransformersEngine) -> Iterator[list[Example]]:
        """What is learnt of every game; of demonstrations those that are not held out."""
        settings, style = self.settings, self.recipe.style
        for game in self.games:
            if settings.teacher:
                for unit in imitated(game, settings.teacher, settings.num_examples, self.key, make_style(style)):
                    yield [demonstrated(engine, one.messages, one.reply) for one in unit]
                continue
            for one in demonstrations(game, settings.num_examples, self.key, style=style):
                if not one.held_out:
                    yield [demonstrated(engine, one.messages, one.reply)]

    def _writes(self, lm: LanguageModel) -> Callable[[Path], None]:
        return writes_adapters(lm, [ADAPTER]) if self.settings.adapter else writes_model(lm)
