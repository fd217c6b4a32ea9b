"""The model that SCO-PAL trains: an adapter on a base, what it was at the start of a stage, and what it was before.

A stage is held near to the policy as it was when the stage began: cloning moves away from the base, and KTO is measured
from what cloning left. All of these are adapters on one base. Where all weights learn, nothing is left of what they
were, so only cloning can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stratagem.algorithms.own_base import BASE, base_and_start, load_own, make_own_base
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.scopal.refinement import Refinement
from stratagem.engines.base import Sampling
from stratagem.engines.transformers_engine import TransformersEngine
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learning.learner import Learner
from stratagem.learning.optimizer import Optimizer
from stratagem.learning.policy import Policy
from stratagem.learning.reference import REFERENCE
from stratagem.models.adapters import adapter_names, averaged, copied, save_adapter
from stratagem.models.language_model import LanguageModel
from stratagem.models.reference import parse_model
from stratagem.models.run_models import RunModel, RunModels, Speaks, own_text, write_run_models
from stratagem.players.language import language_player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.prompting.catalogue import make_style
from stratagem.runs.files import new_folder
from stratagem.runs.folder import RunFolder
from stratagem.runs.weights import ADAPTERS, MODEL, restore_weights, sealed, writes_adapters, writes_model

POLICY = "policy"
"""The adapter that is trained."""
STAGES = "stages"
"""Where a run keeps what each stage ended with, by step and method."""
_WAS = "was-"
_NAMES = {
    "bc": "BC",
    "kto": "KTO",
    "dpo": "DPO",
    "grpo": "GRPO",
    "spag": "SPAG",
    "winning": "BC of won games",
    "imitate": "BC of all",
}


class LearnerModel:
    """A model that plays, learns, and remembers what it was."""

    def __init__(self, recipe: ScopalRecipe, run: RunFolder) -> None:
        self.recipe = recipe
        self.run = run
        self.lm: LanguageModel = load_own(run, self._base())
        self.adapter = POLICY if recipe.train == "adapter" else None
        self.weights = self._weights()
        self.engine = TransformersEngine(self.lm)
        self._learner: Learner | None = None
        self._optimizer: dict[str, Any] | None = None
        self._versions: dict[str, int] = {}
        for text in recipe.games:
            self.player().check(make_game(text))

    def _weights(self) -> Sequence[Any]:
        """What learns."""
        if self.adapter is None:
            self.lm.model.requires_grad_(True)
            return list(self.lm.model.parameters())
        return self.recipe.adapter.add(self.lm, self.adapter, self.recipe.seed)

    def _base(self) -> str:
        """What the adapter is on; an adapter that the recipe's model has is merged into it, once."""
        make_own_base(self.run, self.recipe.model)
        made = self.run.path / BASE / MODEL
        return f"dir:{made}{self._options}" if made.is_dir() else self.recipe.model

    @property
    def _options(self) -> str:
        """How the recipe's model is held: what stands behind it, as +dtype=bf16."""
        return parse_model(self.recipe.model).options

    # --- at the table

    def player(self) -> ModelPlayer:
        """Plays as it is now."""
        return self._player(self.adapter, POLICY)

    def _player(self, adapter: str | None, name: str) -> ModelPlayer:
        """Plays with an adapter, or without any."""
        recipe = self.recipe
        speaker = Speaker(
            engine=self.engine,
            adapter=adapter or "",
            style=make_style(recipe.style),
            sampling=Sampling(temperature=recipe.interaction.temperature),
            max_new_tokens=recipe.max_new_tokens,
        )
        return ModelPlayer(name=name, speaker=speaker, mode=recipe.mode)

    def earlier(self, iteration: int) -> ModelPlayer:
        """What it was before the last iteration: the base in the second, the first one's outcome in the third."""
        kept = f"{_WAS}{iteration - 2}"
        return self._player(kept if iteration > 1 else None, "earlier")

    def remember(self, iteration: int) -> None:
        """Keep what an iteration ended with, as an opponent."""
        if iteration + 2 < self.recipe.iterations:
            self._copy(f"{_WAS}{iteration}")

    def _copy(self, name: str) -> None:
        if name in adapter_names(self.lm):
            averaged(self.lm, name, POLICY, 0.0)
        else:
            copied(self.lm, POLICY, name)
        self._publish(name)

    def _publish(self, name: str | None) -> None:
        """Let an adapter play as it is now, or the base where it has no name, under a version of its own."""
        self._versions[name or ""] = max(self._versions.values(), default=0) + 1
        self.engine.publish(name or "", self._versions[name or ""])

    # --- at the desk

    def learner(self, refinement: Refinement, key: Key, *, fresh: bool) -> Learner:
        """Learns a stage from its first step, or goes on with it."""
        reference = REFERENCE if self.adapter else None
        if fresh and reference:
            self._copy(reference)
        optimizer = Optimizer(self.weights, refinement.settings.optimizer, refinement.steps)
        if not fresh and self._optimizer is not None:
            optimizer.restore(self._optimizer)
        policy = Policy(
            self.lm,
            max_tokens_per_microbatch=self.recipe.max_tokens_per_microbatch,
            gradient_checkpointing=self.recipe.gradient_checkpointing,
        )
        loss = refinement.lesson.loss
        key = key.at("dropout")
        self._learner = Learner(policy, loss, optimizer, adapter=self.adapter, reference=reference, key=key)
        return self._learner

    def staged(self, step: int, method: str) -> None:
        """Keep what a stage ended with, for good."""
        self._learner = None
        self._publish(self.adapter)
        folder = self.run.path / STAGES / f"{step:06d}-{method}"
        if not folder.is_dir():
            new_folder(folder, sealed(self._writes_policy()))

    def _writes_policy(self) -> Callable[[Path], None]:
        if self.adapter is None:
            return writes_model(self.lm)
        return lambda made: save_adapter(self.lm, POLICY, made / POLICY)

    # --- on the disk

    def state(self) -> dict[str, Any]:
        """All that later steps depend on, but for the weights."""
        learner = self._learner
        return {"optimizer": None if learner is None else learner.optimizer.state(), "versions": self._versions}

    def restore(self, state: dict[str, Any], folder: Path) -> None:
        """Go on from a state and the weights in the folder of its checkpoint."""
        self._optimizer, self._versions = state["optimizer"], dict(state["versions"])
        for path in sorted((folder / ADAPTERS).glob("*")):
            if path.name not in adapter_names(self.lm):
                copied(self.lm, POLICY, path.name)
        restore_weights(self.lm, folder)
        for name in ("", *adapter_names(self.lm)):
            self.engine.publish(name, self._versions.get(name, 0))

    def writes(self) -> Callable[[Path], None]:
        """What writes the weights that learn into the folder of a checkpoint."""
        return writes_model(self.lm) if self.adapter is None else writes_adapters(self.lm)

    def publish(self) -> None:
        """Write which models the run holds."""
        recipe = self.recipe
        speaks = Speaks(
            mode=recipe.mode,
            style=recipe.style,
            temperature=recipe.interaction.temperature,
            max_new_tokens=recipe.max_new_tokens,
        )
        base, start = base_and_start(self.run, recipe.model, self._options)
        models = {"base": base, "start": start}
        for step, (folder, method) in self._stages().items():
            where = folder.relative_to(self.run.path)
            model = start.model_copy(update={"adapter": str(where / POLICY)})
            model = model if self.adapter else RunModel(model=f"dir:{where / MODEL}{self._options}")
            models |= {str(step): model, f"last/{method}": model, "last": model}
        write_run_models(self.run.path, RunModels(models=models, speaks=speaks, titles=self.rows()))

    def _stages(self) -> dict[int, tuple[Path, str]]:
        """What was kept, by step: the folder and the method."""
        folders = sorted((self.run.path / STAGES).glob("[0-9]*"))
        return {int(path.name.partition("-")[0]): (path, path.name.partition("-")[2]) for path in folders}

    def rows(self) -> dict[str, str]:
        """The models of the last table by their labels, each with what it is called there."""
        found = {"start": "Base"}
        stages, per = self._stages(), len(self.recipe.refine)
        for number, (step, (_, method)) in enumerate(stages.items()):
            before = number % per
            called = " + ".join(_NAMES.get(name, name) for name in (*self.recipe.refine[:before], method))
            again = f", iteration {number // per + 1}" if self.recipe.iterations > 1 else ""
            found[str(step)] = called + again
        return found

    def named(self, label: str) -> str:
        """A model of the run as a player, by the name that an evaluation gives it."""
        recipe = self.recipe
        return language_player(
            own_text(self.run.path, label),
            mode=recipe.mode,
            style=recipe.style,
            temperature=recipe.judge.temperature,
            max_new_tokens=recipe.max_new_tokens,
        ).name
