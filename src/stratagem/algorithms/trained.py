"""What a run trains: an adapter on its base, or all weights, with all that plays it, learns it and goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stratagem.algorithms.policy_recipe import PolicyRecipe
from stratagem.engines.base import Sampling
from stratagem.engines.transformers_engine import TransformersEngine
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learning.example import Example
from stratagem.learning.learner import Learner, Report
from stratagem.learning.optimizer import Optimizer
from stratagem.learning.policy import Policy
from stratagem.models.language_model import LanguageModel
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.prompting.catalogue import make_style
from stratagem.runs.weights import restore_weights, writes_adapters, writes_model

if TYPE_CHECKING:
    import torch

POLICY = "policy"
"""The adapter's name."""


def hero_of(recipe: PolicyRecipe, engine: TransformersEngine, adapter: str = "", name: str = POLICY) -> ModelPlayer:
    """Who plays a recipe's games; refused where the model cannot say their actions in its mode."""
    speaker = Speaker(
        engine=engine,
        adapter=adapter,
        style=make_style(recipe.style),
        sampling=Sampling(temperature=recipe.temperature),
        max_new_tokens=recipe.max_new_tokens,
    )
    hero = ModelPlayer(name=name, speaker=speaker, mode=recipe.mode)
    for text in recipe.games:
        hero.check(make_game(text))
    return hero


class Trained:
    """A model at its table and at its desk."""

    def __init__(
        self,
        recipe: PolicyRecipe,
        lm: LanguageModel,
        *,
        name: str = POLICY,
        engine: TransformersEngine | None = None,
        seed: int | None = None,
    ) -> None:
        """Several of them may share a model and its engine, each with an adapter of its own name and seed."""
        self.recipe = recipe
        self.lm = lm
        self.name = name
        self.seed = recipe.seed if seed is None else seed
        stage = recipe.stage
        optimizer = Optimizer(self._weights(), stage.optimizer, stage.iterations * stage.optimizer_steps)
        self.engine = engine or TransformersEngine(self.lm)
        self.hero = hero_of(recipe, self.engine, self.adapter or "", name)
        policy = Policy(
            self.lm,
            max_tokens_per_microbatch=recipe.max_tokens_per_microbatch,
            gradient_checkpointing=recipe.gradient_checkpointing,
        )
        self.learner = Learner(
            policy,
            stage.loss.made,
            optimizer,
            adapter=self.adapter,
            reference=recipe.reference.make(self.lm, name),
            key=Key(self.seed).at("dropout"),
        )

    @property
    def adapter(self) -> str | None:
        """The adapter that is trained; None where all weights are."""
        return self.name if self.recipe.train == "adapter" else None

    @property
    def taken(self) -> int:
        """How many iterations were learnt from."""
        return self.learner.optimizer.taken // self.recipe.stage.optimizer_steps

    def _weights(self) -> Sequence[Any]:
        if self.adapter is None:
            self.lm.model.requires_grad_(True)
            return list(self.lm.model.parameters())
        return self.recipe.adapter.add(self.lm, self.name, self.seed)

    def learn(self, examples: Sequence[Example]) -> list[Report]:
        """The steps of an iteration; afterwards the new weights play.

        Where there are several, the examples are dealt out among them, and what the policy said before the first counts
        in all.
        """
        updates = self.recipe.stage.optimizer_steps
        if updates == 1:
            reports = [self.learner.step(examples)]
        else:
            known = self.learner.prepared(examples)
            parts = [known[number::updates] for number in range(updates)]
            reports = [self.learner.update(part) if part else self._skipped() for part in parts]
        self._publish()
        return reports

    def skip(self) -> None:
        """An iteration without any gradient."""
        for _ in range(self.recipe.stage.optimizer_steps):
            self._skipped()

    def _skipped(self) -> Report:
        """A step without any gradient."""
        rate, norm = self.learner.optimizer.learning_rate, self.learner.optimizer.step()
        return Report(loss=0.0, grad_norm=norm, learning_rate=rate, num_examples=0, num_tokens=0, num_read=0)

    def _publish(self) -> None:
        self.engine.publish(self.adapter or "", self.learner.optimizer.taken)

    def begin_anew(self, weights: Iterable[torch.Tensor]) -> None:
        """Go back to these weights of its adapter, as if nothing had been learnt."""
        self.learner.optimizer.begin_anew(weights)
        if self.learner.average is not None:
            self.learner.average.begin_anew()
        self._publish()

    def state(self) -> dict[str, Any]:
        """All that a later step depends on, but for the weights."""
        return {"optimizer": self.learner.optimizer.state()}

    def restore(self, state: dict[str, Any], folder: Path) -> None:
        """Go on from a state and the weights in the folder of its checkpoint."""
        names = None if self.adapter is None else self.adapters
        restore_weights(self.lm, folder, names)
        self.learner.optimizer.restore(state["optimizer"])
        self._publish()

    @property
    def adapters(self) -> list[str]:
        """Its own, and that of a reference that follows it."""
        average = self.learner.average
        return [self.name] if average is None else [self.name, average.name]

    def writes(self) -> Callable[[Path], None]:
        """What writes the weights into the folder of a checkpoint."""
        return writes_model(self.lm) if self.adapter is None else writes_adapters(self.lm, self.adapters)
