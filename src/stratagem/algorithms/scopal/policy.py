"""Policy that SCO-PAL trains, its stages of refinement, its reference policy, and its earlier versions as opponents.

The reference of a stage is the policy at the start of that stage: for KTO, the outcome of cloning. Policy, reference
and earlier versions are adapters on one base. Where all weights are trained the reference is another model, the base or
the saved outcome of the stage before; a resumed run loads it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.algorithms.scopal.methods import CLONING, METHODS, Batch, StageSettings, TrainingSet
from stratagem.algorithms.scopal.recipe import ScopalRecipe
from stratagem.algorithms.scopal.samples import Samples
from stratagem.games.bounded import make_bounded_game
from stratagem.games.key import Key
from stratagem.language.decoding.sampling import Sampling
from stratagem.language.engines.open import open_engine
from stratagem.language.models.adapters import adapter_names, average_adapter, copy_adapter, save_adapter
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.load import load
from stratagem.learn.advantages.base import Floats, Ints
from stratagem.learn.monitor import TrainingMonitor
from stratagem.learn.policy import Policy
from stratagem.learn.reference import REFERENCE
from stratagem.players.model_player import ModelPlayer
from stratagem.training.artifacts import Artifacts, SavedModels, label_models, publish
from stratagem.training.policy import POLICY, TrainablePolicy, learner_policy, model_player
from stratagem.training.runs.files import new_folder
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.weights import (
    ADAPTERS,
    MODEL,
    restore_weights,
    with_manifest,
    writes_adapters,
    writes_model,
)
from stratagem.training.stage import TrainingSubject


class Refinement:
    """Batches of a stage; the same for the same samples and key."""

    def __init__(self, method: str, samples: Samples, settings: StageSettings, key: Key) -> None:
        self.settings = settings
        self.key = key
        self.training_set: TrainingSet = METHODS[method].training_set(samples, settings, _rng(key.at("lesson")))
        self.units, self.weights = split(self.training_set.weight, settings.max_weight_ratio)

    @property
    def num_steps(self) -> int:
        """Number of optimizer steps."""
        return self.settings.max_steps or self.settings.epochs * self._steps_per_epoch()

    def _steps_per_epoch(self) -> int:
        return self.settings.steps_per_epoch(len(self.units), self.training_set.min_units)

    def batches(self, done: int = 0) -> Iterator[Batch]:
        """Yield the batch of each step that is left."""
        every = (indices for epoch in count() for indices in self._epoch(epoch))
        for indices in islice(every, done, self.num_steps):
            yield self.training_set.batch([int(unit) for unit in self.units[indices]], self.weights[indices])

    def _epoch(self, epoch: int) -> list[Ints]:
        """Return the shuffled units of an epoch in batches."""
        order = _rng(self.key.at("epoch", epoch)).permutation(len(self.units))
        return np.array_split(order, self._steps_per_epoch())


def split(weight: Floats, max_ratio: float) -> tuple[Ints, Floats]:
    """Return the units with their weights; a unit above `max_ratio` is split into several of equal weight.

    The parts of a unit add up to its weight, so the gradient of an epoch is the same. All weights are rescaled to a
    mean of 1.
    """
    times = np.maximum(1, np.ceil(weight / max_ratio)).astype(np.int64)
    units = np.repeat(np.arange(len(weight)), times)
    parts = (weight / times)[units]
    return units, parts / parts.mean()


def _rng(key: Key) -> np.random.Generator:
    return np.random.default_rng(key.value)


STAGES = "stages"
"""Folder of the policy after each stage, by step and method."""
_EARLIER = "was-"
"""Prefix of the adapters of earlier iterations; checkpoints hold these names."""
_NAMES = {
    "bc": "BC",
    "kto": "KTO",
    "dpo": "DPO",
    "grpo": "GRPO",
    "spag": "SPAG",
    "winning": "BC of won games",
    "imitate": "BC of all",
}


class ScopalPolicy(TrainablePolicy):
    """Policy that plays, is refined in stages, and keeps earlier versions as opponents."""

    def __init__(self, recipe: ScopalRecipe, run: RunFolder, *, strict: bool = False) -> None:
        """`strict` stops at the first fault that a monitor finds."""
        self.recipe = recipe
        self.run = run
        self.strict = strict
        self.artifacts = Artifacts(run, recipe.model)
        self.artifacts.merge_base()
        lm = self.artifacts.load()
        super().__init__(
            lm,
            open_engine(lm, recipe.engine.value),
            self.decoding_settings(),
            adapter=recipe.adapter if recipe.train == "adapter" else None,
            seed=recipe.seed,
            policy=learner_policy(lm, recipe),
            strict=strict,
        )
        self.refining = False
        self._monitors: dict[str, TrainingMonitor] = {}
        """Monitors by method."""
        self._versions: dict[str, int] = {}
        self._saved: tuple[dict[str, Any], Path] | None = None
        """Optimizer state in the checkpoint that the run continues from, and the folder of the checkpoint."""
        for text in recipe.games:
            self.player.check(make_bounded_game(text))

    def decoding_settings(self, temperature: float | None = None) -> DecodingSettings:
        """Return the prompt style, decoding mode and sampling settings: of the interaction, or a temperature alone."""
        recipe = self.recipe
        sampling = recipe.interaction.sampling if temperature is None else Sampling(temperature)
        return DecodingSettings.of(sampling, recipe.mode, recipe.style, recipe.max_new_tokens)

    # --- players

    def earlier(self, iteration: int) -> ModelPlayer:
        """Return the opponent of an iteration: the policy of two iterations before; in the second, the base."""
        adapter = f"{_EARLIER}{iteration - 2}" if iteration > 1 else ""
        return model_player(self.decoding_settings(), self.engine, adapter, "earlier")

    def save_as_opponent(self, iteration: int) -> None:
        """Copy the policy after an iteration, as an opponent of a later one."""
        if iteration + 2 < self.recipe.iterations:
            self._copy(f"{_EARLIER}{iteration}")

    def _copy(self, name: str) -> None:
        if name in adapter_names(self.lm):
            average_adapter(self.lm, name, POLICY, 0.0)
        else:
            copy_adapter(self.lm, POLICY, name)
        self._publish(name)

    def publish(self) -> None:
        """Do nothing: the policy does not play during refinement."""

    def _publish(self, name: str) -> None:
        """Give the engine the weights of an adapter under a new version; an empty name is the base."""
        self._versions[name] = max(self._versions.values(), default=0) + 1
        self.policy.gather_weights()
        self.engine.publish(name, self._versions[name])

    @property
    def subject(self) -> TrainingSubject:
        name = self.adapter or ""
        return replace(super().subject, publish=lambda: self.engine.publish(name, self._versions.get(name, 0)))

    # --- refinement

    def refine(self, method: str, refinement: Refinement, key: Key, number: int, *, fresh: bool) -> None:
        """Begin a stage of refinement, or continue it; `number` counts the stages of refinement before it."""
        settings, loss = refinement.settings, refinement.training_set.loss
        reference: str | Policy | None = REFERENCE if self.adapter else None
        if fresh and self.adapter:
            self._copy(REFERENCE)
        if not self.adapter and "reference_logprobs" in loss.extras:
            reference = self._copy_of_start(number)
        self.assign(loss, settings.optimizer, refinement.num_steps, key=key.at("dropout"), reference=reference)
        self.monitor = self._monitors.setdefault(method, TrainingMonitor(strict=self.strict))
        self.skipped_checks = ("collapse",) if method in CLONING else ()
        if fresh:
            self.monitor.reset(0)
        elif self._saved is not None:
            self.learner.optimizer.restore(*self._saved)
        self.refining = True

    def _copy_of_start(self, number: int) -> Policy:
        """Load the weights at the start of a stage once more, as its reference; that of the stage before is freed."""
        self.__dict__.pop("learner", None)
        options = self.recipe.reference.options(self.lm)
        if not number:
            lm = self.artifacts.load(**options)
        else:
            folder, _ = list(self._stages().values())[number - 1]
            lm = load(f"dir:{folder / MODEL}{self.artifacts.options}", **options)
        sizes = (self.recipe.max_tokens_per_microbatch, self.recipe.logits_chunk_mib)
        return Policy(lm, max_tokens_per_microbatch=sizes[0], logits_chunk_mib=sizes[1])

    def finish_refinement(self, step: int, method: str) -> None:
        """Save the policy after a stage."""
        self.refining = False
        self._publish(self.adapter or "")
        folder = self.run.path / STAGES / f"{step:06d}-{method}"
        if not folder.is_dir():
            new_folder(folder, with_manifest(self._write_policy))

    def _write_policy(self, folder: Path) -> None:
        if self.adapter is None:
            writes_model(self.lm)(folder)
        else:
            save_adapter(self.lm, POLICY, folder / POLICY)

    # --- checkpoints

    def state(self) -> dict[str, Any]:
        return {
            "optimizer": self.learner.optimizer.state() if self.refining else None,
            "versions": self._versions,
            "monitors": {method: monitor.state() for method, monitor in self._monitors.items()},
        }

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        self._saved = None if state["optimizer"] is None else (state["optimizer"], folder)
        self._versions = dict(state["versions"])
        for method, saved in state["monitors"].items():
            self._monitors[method] = TrainingMonitor(strict=self.strict)
            self._monitors[method].restore(saved)
        for path in sorted((folder / ADAPTERS).glob("*")):
            if path.name not in adapter_names(self.lm):
                copy_adapter(self.lm, POLICY, path.name)
        restore_weights(self.lm, folder)
        for name in ("", *adapter_names(self.lm)):
            self.engine.publish(name, self._versions.get(name, 0))

    def write(self, folder: Path) -> None:
        if self.refining:
            self.policy.gather_weights()
            self.learner.optimizer.write(folder)
        (writes_model(self.lm) if self.adapter is None else writes_adapters(self.lm))(folder)

    # --- models of the run

    def publish_models(self) -> None:
        """Write the list of models of the run."""
        base, start = self.artifacts.base_and_start()
        stages = self._stages()
        steps = {step: self.artifacts.saved_model(folder, POLICY) for step, (folder, _) in stages.items()}
        models = label_models(SavedModels(base, start, steps))
        models |= {f"last/{method}": steps[step] for step, (_, method) in stages.items()}
        publish(self.run, models, self.decoding_settings(), self.titles())

    def _stages(self) -> dict[int, tuple[Path, str]]:
        """Return folder and method of each saved stage, by step."""
        folders = sorted((self.run.path / STAGES).glob("[0-9]*"))
        return {int(path.name.partition("-")[0]): (path, path.name.partition("-")[2]) for path in folders}

    def titles(self) -> dict[str, str]:
        """Return the labels of the evaluated models, each with its title in reports."""
        titles, stages, per_iteration = {"start": "Base"}, self._stages(), len(self.recipe.refine)
        for number, (step, (_, method)) in enumerate(stages.items()):
            before = number % per_iteration
            methods = " + ".join(_NAMES.get(name, name) for name in (*self.recipe.refine[:before], method))
            iteration = f", iteration {number // per_iteration + 1}" if self.recipe.iterations > 1 else ""
            titles[str(step)] = methods + iteration
        return titles
