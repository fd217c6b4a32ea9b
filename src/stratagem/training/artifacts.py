"""Artifacts of a run: its base model, and the list of all its models (`models.json`).

A run saves a base of its own once, in `RUN/base`, and later stages never change it. So a run's models are one base with
adapters on it, or whole models where all weights are trained. On a base in 4 bits, into which no adapter can be merged,
the run saves the adapter of SFT there instead, and later stages go on with a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stratagem.language.models.adapters import adapter_names, load_adapter, save_adapter
from stratagem.language.models.decoding_settings import DecodingSettings
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.language.models.merging import merge_adapter
from stratagem.language.models.reference import parse_model
from stratagem.language.models.run_models import RunModel, RunModels, outside, own_text, resolve_model, write_run_models
from stratagem.players.language import language_player
from stratagem.training.learner_models import LearnerBase
from stratagem.training.runs.checkpoint import checkpoint_folders
from stratagem.training.runs.files import new_folder
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.weights import ADAPTERS, MODEL, with_manifest, writes_model
from stratagem.training.sft import START

BASE = "base"
"""Folder of a run's own base."""


class Artifacts:
    """Base of a run and its models; `part` is the subfolder of a base in a run with several."""

    def __init__(self, run: RunFolder, model: str, part: str = "", device: str = "") -> None:
        """`device` is where the base is loaded; empty for the usual one."""
        self.run = run
        self.model = model
        self.device = device
        self.folder = run.path / BASE / part if part else run.path / BASE

    @property
    def options(self) -> str:
        """Loading options of the recipe's model, such as +dtype=bf16."""
        return parse_model(self.model).options

    @property
    def made(self) -> bool:
        """True if the run has a base of its own."""
        return (self.folder / MODEL).is_dir()

    @property
    def start_adapter(self) -> Path:
        """Folder of the adapter of SFT on a base in 4 bits."""
        return self.folder / ADAPTERS / START

    @property
    def finished(self) -> bool:
        """True if the run has the outcome of SFT: a base of its own, or an adapter on the given base."""
        return self.made or self.start_adapter.is_dir()

    def save_start(self, lm: LanguageModel, adapter: str) -> None:
        """Save the outcome of SFT by an adapter: merged into the base, or by itself where the base is in 4 bits."""
        if not getattr(lm.model, "is_quantized", False):
            merge_adapter(lm, adapter)
            self.save_base(lm)
        elif not self.finished:
            self.folder.parent.mkdir(exist_ok=True)
            new_folder(self.folder, with_manifest(lambda folder: save_adapter(lm, adapter, folder / ADAPTERS / START)))

    @property
    def base(self) -> str:
        """Base model of the adapters: the run's own base, or the recipe's model."""
        return f"dir:{self.folder / MODEL}{self.options}" if self.made else self.model

    def save_base(self, lm: LanguageModel) -> None:
        """Save a model as the base, in one piece; an existing base is kept."""
        if not self.made:
            self.folder.parent.mkdir(exist_ok=True)
            new_folder(self.folder, with_manifest(writes_model(lm)))

    def merge_base(self) -> None:
        """Merge the adapter of the recipe's model into a base; a model without an adapter is the base itself."""
        if self.made or not resolve_model(parse_model(self.model)).adapters:
            return
        lm = self.load_given()
        merge_adapter(lm, adapter_names(lm)[0])
        self.save_base(lm)

    def load_given(self) -> LanguageModel:
        """Load the recipe's model, before the run has a base of its own."""
        return load(self.model, device=self.device or None)

    def load(self, **options: str) -> LanguageModel:
        """Load the base; a base in the run's folder is named by its relative path, so the run can be moved.

        `options` are a device and a number format in place of the usual ones.
        """
        lm = load(self.base, **({"device": self.device} if self.device else {}) | options)
        if lm.name.startswith(own := f"dir:{self.run.path}/"):
            lm.name = f"dir:{lm.name.removeprefix(own)}"
        if self.start_adapter.is_dir():
            load_adapter(lm, self.start_adapter, START)
        return lm

    # --- the list of models

    def base_and_start(self) -> tuple[RunModel, RunModel]:
        """Return the given model, and the model that training starts from; equal where an adapter was merged."""
        given = outside(self.model)
        base = RunModel(model=given)
        relative = (self.folder / MODEL).relative_to(self.run.path)
        start = RunModel(model=f"dir:{relative}{self.options}") if self.made else base
        if self.start_adapter.is_dir():
            start = RunModel(model=given, adapter=str(self.start_adapter.relative_to(self.run.path)))
        return (start if parse_model(given).adapters else base), start

    def saved_model(self, folder: Path, adapter: str) -> RunModel:
        """Return the model of a saved folder of the run: an adapter on the base, or a whole model."""
        path = folder.relative_to(self.run.path)
        if (folder / adapter).is_dir():
            return self.base_and_start()[1].model_copy(update={"adapter": str(path / adapter)})
        return RunModel(model=f"dir:{path / MODEL}{self.options}")

    def checkpoints(self, adapter: str, after: int = 0, part: str = "") -> dict[int, RunModel]:
        """Return the models of all checkpoints after a step; `part` is the folder of this model in a checkpoint."""
        return {
            step: self.saved_model(folder / part, f"{ADAPTERS}/{adapter}")
            for step, folder in checkpoint_folders(self.run).items()
            if step > after
        }


def artifacts_of(run: RunFolder, bases: Sequence[LearnerBase], *, part: bool = True) -> dict[LearnerBase, Artifacts]:
    """Return the artifacts of each base of a run, each with a folder; without `part` the only base needs none."""
    alone = not part and len(bases) == 1
    return {
        base: Artifacts(run, base.model, "" if alone else str(number), base.device) for number, base in enumerate(bases)
    }


class SavedModels(NamedTuple):
    """Models of one learner of a run."""

    base: RunModel
    start: RunModel
    steps: Mapping[int, RunModel]
    best: int | None = None


def label_models(saved: SavedModels, learner: str = "") -> dict[str, RunModel]:
    """Return a learner's models by label: base, start, best, last, and each step; or with its name, as last/shaper."""
    models = {"base": saved.base, "start": saved.start}
    if saved.best is not None and saved.best in saved.steps:
        models["best"] = saved.steps[saved.best]
    if saved.steps:
        models["last"] = saved.steps[max(saved.steps)]
    models |= {str(step): model for step, model in saved.steps.items()}
    return {f"{label}/{learner}": model for label, model in models.items()} if learner else models


def publish(
    run: RunFolder,
    models: Mapping[str, RunModel],
    decoding: DecodingSettings | None = None,
    titles: Mapping[str, str] | None = None,
) -> None:
    """Write the list of models of a run, some with a title in reports."""
    made = RunModels(models=dict(models), speaks=decoding or DecodingSettings(), titles=dict(titles or {}))
    write_run_models(run.path, made)


def player_names(run: RunFolder, labels: Iterable[str], decoding: DecodingSettings | None = None) -> dict[str, str]:
    """Return the player names of a run's models in an evaluation, by label."""
    options = decoding.model_dump() if decoding else {}
    return {label: language_player(own_text(run.path, label), **options).name for label in labels}
