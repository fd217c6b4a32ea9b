"""A base of a run's own: made once, under `RUN/base`, and never changed by what is trained on it."""

from __future__ import annotations

from stratagem.models.adapters import adapter_names
from stratagem.models.language_model import LanguageModel
from stratagem.models.load import load
from stratagem.models.merging import merged
from stratagem.models.reference import parse_model
from stratagem.models.run_models import RunModel, outside, resolved
from stratagem.runs.files import new_folder
from stratagem.runs.folder import RunFolder
from stratagem.runs.weights import MODEL, sealed, writes_model

BASE = "base"
"""Where a run keeps the base that it made."""


def make_own_base(run: RunFolder, model: str) -> None:
    """Where the model has an adapter, merge it into a base of the run's own; other models are bases as they are."""
    made = run.path / BASE
    if made.is_dir() or not resolved(parse_model(model)).adapters:
        return
    lm = load(model)
    merged(lm, adapter_names(lm)[0])
    new_folder(made, sealed(writes_model(lm)))


def load_own(run: RunFolder, text: str) -> LanguageModel:
    """Load a model for a run; one in its folder is called by the path from there, as in `models.json`.

    So the record names no folder of a machine, and a run can be moved.
    """
    lm = load(text)
    if lm.name.startswith(own := f"dir:{run.path}/"):
        lm.name = f"dir:{lm.name.removeprefix(own)}"
    return lm


def base_and_start(run: RunFolder, model: str, options: str = "") -> tuple[RunModel, RunModel]:
    """What a run has from elsewhere, and what its training begins on; the same where an adapter was merged for it."""
    kept = outside(model)
    base = RunModel(model=kept)
    start = RunModel(model=f"dir:{BASE}/{MODEL}{options}") if (run.path / BASE / MODEL).is_dir() else base
    return (start if parse_model(kept).adapters else base), start
