"""Which models a run of several learners holds: for each seat its base, what it began with, and its adapters."""

from __future__ import annotations

from pathlib import Path

from stratagem.algorithms.own_base import BASE
from stratagem.algorithms.shaping.recipe import ShapingRecipe
from stratagem.algorithms.shaping.seat_settings import Learns
from stratagem.models.reference import parse_model
from stratagem.models.run_models import RunModel, RunModels, Speaks, outside, write_run_models
from stratagem.runs.checkpoint import checkpoint_folders
from stratagem.runs.folder import RunFolder
from stratagem.runs.weights import ADAPTERS, MODEL


def publish(recipe: ShapingRecipe, run: RunFolder) -> None:
    """Write which models there are now: `run:PATH@last/shaper`, `run:PATH@start/naive`, `run:PATH@200/naive`."""
    models: dict[str, RunModel] = {}
    steps = checkpoint_folders(run)
    for name, seat in recipe.seats.items():
        if isinstance(seat, Learns):
            says = Speaks(
                mode=seat.mode, style=seat.style, temperature=seat.temperature, max_new_tokens=seat.max_new_tokens
            )
            text = recipe.base_of(seat)
            base = RunModel(model=outside(text), speaks=says)
            made = Path(BASE) / str(recipe.bases.index(text)) / MODEL
            taught = base.model_copy(update={"model": f"dir:{made}{parse_model(text).options}"})
            start = taught if (run.path / made).is_dir() else base
            models |= {f"base/{name}": base, f"start/{name}": start}
            for step, folder in steps.items():
                adapter = str(folder.relative_to(run.path) / ADAPTERS / name)
                models[f"{step}/{name}"] = start.model_copy(update={"adapter": adapter})
            if steps:
                models[f"last/{name}"] = models[f"{max(steps)}/{name}"]
    write_run_models(run.path, RunModels(models=models))
