"""What a run trains: an adapter on its base, or all weights, with all that plays it, learns it and goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stratagem.algorithms.recipe import Recipe
from stratagem.engines.base import Sampling
from stratagem.engines.transformers_engine import TransformersEngine
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learning.example import Example
from stratagem.learning.learner import Learner, Report
from stratagem.learning.optimiser import Optimiser
from stratagem.learning.policy import Policy
from stratagem.models.load import LanguageModel, load
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.prompting.catalogue import make_style
from stratagem.runs.weights import restore_weights, writes_adapters, writes_model

POLICY = "policy"
"""The adapter's name."""


class Trained:
    """A model at its table and at its desk."""

    def __init__(self, recipe: Recipe, base: str) -> None:
        self.recipe = recipe
        self.lm: LanguageModel = load(base)
        optimiser = Optimiser(self._weights(), recipe.sepo.optimiser, recipe.sepo.iterations)
        self.engine = TransformersEngine(self.lm)
        self.hero = self._hero()
        policy = Policy(self.lm, budget=recipe.budget, recompute=recipe.recompute)
        self.learner = Learner(
            policy,
            recipe.sepo.loss(),
            optimiser,
            adapter=self.adapter,
            reference=recipe.reference.make(self.lm, POLICY),
            key=Key(recipe.seed).at("dropout"),
        )

    @property
    def adapter(self) -> str | None:
        """The adapter that is trained; None where all weights are."""
        return POLICY if self.recipe.train == "adapter" else None

    @property
    def taken(self) -> int:
        """How many steps were taken."""
        return self.learner.optimiser.taken

    def _weights(self) -> Sequence[Any]:
        if self.adapter is None:
            self.lm.model.requires_grad_(True)
            return list(self.lm.model.parameters())
        return self.recipe.adapter.add(self.lm, POLICY, self.recipe.seed)

    def _hero(self) -> ModelPlayer:
        speaker = Speaker(
            engine=self.engine,
            adapter=self.adapter or "",
            style=make_style(self.recipe.style),
            sampling=Sampling(temperature=self.recipe.temperature),
            max_new=self.recipe.max_new,
        )
        hero = ModelPlayer(name=POLICY, speaker=speaker, mode=self.recipe.mode)
        for text in self.recipe.games:
            hero.check(make_game(text))
        return hero

    def learn(self, examples: Sequence[Example]) -> Report:
        """One step, after which the new weights play."""
        report = self.learner.step(examples)
        self._publish()
        return report

    def skip(self) -> None:
        """A step without any gradient."""
        self.learner.optimiser.step()

    def _publish(self) -> None:
        self.engine.publish(self.adapter or "", self.taken)

    def state(self) -> dict[str, Any]:
        """All that a later step depends on, but for the weights."""
        return {"optimiser": self.learner.optimiser.state()}

    def restore(self, state: dict[str, Any], folder: Path) -> None:
        """Go on from a state and the weights in the folder of its checkpoint."""
        self.learner.optimiser.restore(state["optimiser"])
        restore_weights(self.lm, folder)
        self._publish()

    def writes(self) -> Callable[[Path], None]:
        """What writes the weights into the folder of a checkpoint."""
        return writes_model(self.lm) if self.adapter is None else writes_adapters(self.lm)
