"""Which models a run holds: what it began with, what the warm start made, the checkpoints that are kept, the best."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from stratagem.algorithms.own_base import BASE, base_and_start
from stratagem.algorithms.policy_recipe import PolicyRecipe
from stratagem.algorithms.trained import POLICY
from stratagem.models.reference import parse_model
from stratagem.models.run_models import RunModel, RunModels, Speaks, own_text, write_run_models
from stratagem.players.language import language_player
from stratagem.runs.checkpoint import checkpoint_folders, keep, save_checkpoint
from stratagem.runs.folder import RunFolder
from stratagem.runs.weights import ADAPTERS, MODEL

LAST = 2
"""How many of the newest checkpoints are kept beside the best."""


class Held:
    """The models of one run, and which of them was the best in validation."""

    def __init__(self, recipe: PolicyRecipe, run: RunFolder) -> None:
        self.recipe = recipe
        self.run = run
        self.best: int | None = None
        self._most = float("-inf")

    @property
    def base(self) -> str:
        """What the adapters are on: the base that the warm start made, or the recipe's model."""
        made = self.run.path / BASE / MODEL
        return f"dir:{made}{self._options}" if made.is_dir() else self.recipe.model

    @property
    def _options(self) -> str:
        """How the recipe's model is held: what stands behind it, as +dtype=bf16."""
        return parse_model(self.recipe.model).options

    def score(self, step: int, score: float) -> None:
        """What the policy was worth at a step; of equals the first is the best."""
        if score > self._most:
            self.best, self._most = step, score

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"best": self.best, "most": self._most}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.best, self._most = state["best"], state["most"]

    def save(self, step: int, state: dict[str, Any], write: Callable[[Path], None]) -> None:
        """Keep a checkpoint, and say which models there are now."""
        best = () if self.best is None else (self.best,)
        save_checkpoint(self.run, step, state, best=best, write=write)
        keep(self.run, last=LAST)
        self.publish()

    def publish(self) -> None:
        """Write which models the run holds."""
        write_run_models(self.run.path, RunModels(models=self._models(), speaks=self._speaks()))

    def _speaks(self) -> Speaks:
        recipe = self.recipe
        return Speaks(
            mode=recipe.mode, style=recipe.style, temperature=recipe.temperature, max_new_tokens=recipe.max_new_tokens
        )

    def _models(self) -> dict[str, RunModel]:
        base, start = base_and_start(self.run, self.recipe.model, self._options)
        steps = {step: self._at(folder, start) for step, folder in checkpoint_folders(self.run).items()}
        steps = {step: model for step, model in steps.items() if step > self.recipe.sft_steps}
        named = {"base": base, "start": start}
        if self.best in steps:
            named["best"] = steps[self.best]
        if steps:
            named["last"] = steps[max(steps)]
        return named | {str(step): model for step, model in steps.items()}

    def _at(self, folder: Path, start: RunModel) -> RunModel:
        """The model of a checkpoint."""
        where = folder.relative_to(self.run.path)
        if (folder / ADAPTERS / POLICY).is_dir():
            return start.model_copy(update={"adapter": str(where / ADAPTERS / POLICY)})
        return RunModel(model=f"dir:{where / MODEL}{self._options}")

    def rows(self) -> dict[str, str]:
        """The models of the last table by their labels, each with what it is called there."""
        title, steps, warm = self.recipe.title, self.recipe.steps, self.recipe.sft_steps
        found = {"base": "Base"}
        if warm:
            found["start"] = "SFT"
        if self.best is not None:
            found[str(self.best)] = f"{title} (step {self.best - warm})"
        if self.best != steps:
            found[str(steps)] = f"{title}, last (step {steps - warm})"
        return found

    def player(self, label: str) -> str:
        """A model of the run as a player, by the name that an evaluation gives it."""
        return language_player(own_text(self.run.path, label), **self._speaks().model_dump()).name
