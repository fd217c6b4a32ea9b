"""Settings that a recipe leaves to the machine: gradient checkpointing and sizes by memory, number formats by speed.

They are chosen when a run is made, and stored in it, so that a resumed run keeps them on any machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from stratagem.algorithms.estimates import estimate_run
from stratagem.algorithms.memory_sizes import (
    USED,
    SizeChoice,
    choose_sizes,
    keep_sizes_of,
    open_sizes,
    with_usual_sizes,
)
from stratagem.language.models.devices import find_device
from stratagem.language.models.known_shapes import shape_of
from stratagem.language.models.load import choose_dtype
from stratagem.language.models.number_format import FormatChoice, choose_format
from stratagem.language.models.reference import AUTO, parse_model
from stratagem.playing.workers.ranks import ranks_of_plan
from stratagem.training.estimate import RunEstimate
from stratagem.training.recipe_file import AnyRecipe

R = TypeVar("R", bound=AnyRecipe)
_SETTING = "gradient_checkpointing"
_GIB = 2.0**30


@dataclass(frozen=True)
class CheckpointingChoice:
    """Choice of gradient checkpointing, with the bytes that it rests on."""

    used: bool
    without: float
    """Estimate of the largest model without it."""
    device: float
    """Free memory of the device."""
    estimate: RunEstimate | None = field(default=None, repr=False, compare=False)
    """Estimate of the run without it, which is that of the run where it is not used."""

    def __str__(self) -> str:
        """Say what was chosen, and why."""
        limit = f"the limit is {USED:.0%} of the {self.device / _GIB:.1f} GiB that are free"
        figures = f"the estimate without it is {self.without / _GIB:.1f} GiB, and {limit}"
        return f"Gradient checkpointing is {'on' if self.used else 'off'}: {figures}."


def choose_checkpointing(recipe: R, device: float, devices: int = 1) -> tuple[R, CheckpointingChoice | None]:
    """Return the recipe with `gradient_checkpointing` on or off, and the choice; None where there was none.

    It stays off where the memory of the device or the sizes of the model are unknown.
    """
    if getattr(recipe, _SETTING, False) != "auto":
        return recipe, None
    plain = recipe.model_copy(update={_SETTING: False})
    estimate = estimate_run(plain, devices)
    totals = list(estimate.totals().values()) if estimate is not None else []
    if not totals or not device:
        return plain, None
    used = max(totals) > USED * device
    return recipe.model_copy(update={_SETTING: used}), CheckpointingChoice(used, max(totals), device, estimate)


def device_memory() -> float:
    """Return the free bytes of the GPU that models are loaded on, or of this machine where there is none; 0 if unknown.

    Where a system does not say what is free, all of its memory is.
    """
    import torch

    if torch.cuda.is_available():
        return float(torch.cuda.mem_get_info(torch.cuda.current_device())[0])
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 0.0
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def choose_formats(recipe: R, device: str, *, fetch: bool = False) -> tuple[R, tuple[FormatChoice, ...]]:
    """Return the recipe with a number format in place of each `+dtype=auto` of its models, and the choices.

    A model whose sizes are unknown without a download keeps it, unless `fetch` allows one.
    """
    choices: list[FormatChoice] = []

    def choose(text: str) -> str:
        ref = parse_model(text)
        if ref.dtype != AUTO:
            return text
        if fetch:
            choices.append(choose_dtype(ref, device))
        elif (shape := shape_of(text)) is not None:
            choices.append(choose_format(shape, device))
        else:
            return text
        return str(replace(ref, dtype=choices[-1].dtype))

    return _change_models(recipe, choose), tuple(dict.fromkeys(choices))


def settle_here(recipe: R) -> tuple[R, list[str]]:
    """Return the recipe of a new run on this machine, and a sentence for each choice that is not the usual one."""
    recipe, formats = choose_formats(recipe, find_device(), fetch=True)
    ranks = ranks_of_plan()
    devices = 1 if ranks is None else ranks.num_workers
    on_gpu = find_device().startswith("cuda")
    recipe, checkpointing, sizes = choose_by_memory(recipe, device_memory(), on_gpu=on_gpu, devices=devices)
    said: list[object] = [*formats]
    if checkpointing is not None and checkpointing.used:
        said.append(checkpointing)
    elif sizes is not None and sizes.changed:
        said.append(sizes)
    return recipe, [*map(str, said)]


def choose_by_memory(
    recipe: R, free: float, *, on_gpu: bool, devices: int = 1
) -> tuple[R, CheckpointingChoice | None, SizeChoice | None]:
    """Return the recipe with what it leaves to the free memory of each device, and the choices."""
    sizes = open_sizes(recipe)
    usual = with_usual_sizes(recipe, sizes, free, on_gpu=on_gpu)
    recipe, checkpointing = choose_checkpointing(usual, free, devices)
    known = checkpointing.estimate if checkpointing is not None and not checkpointing.used else None
    recipe, chosen = choose_sizes(recipe, sizes, free, known, on_gpu=on_gpu, devices=devices)
    return recipe, checkpointing, chosen


def keep_choices_of(recipe: R, other: AnyRecipe) -> R:
    """Return the recipe with the choices of a run that was begun by it."""
    chosen = iter(_models(other))
    if getattr(recipe, _SETTING, False) == "auto":
        recipe = recipe.model_copy(update={_SETTING: getattr(other, _SETTING, False)})
    recipe = keep_sizes_of(recipe, other)

    def keep(text: str) -> str:
        own, theirs = parse_model(text), next(chosen, "")
        same = own.dtype == AUTO and theirs and str(replace(own, dtype=parse_model(theirs).dtype)) == theirs
        return theirs if same else text

    return _change_models(recipe, keep)


def _models(recipe: AnyRecipe) -> list[str]:
    """Return the texts of the models that a recipe trains, or trains on."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    _change_models(recipe, note)
    return found


def _change_models(recipe: R, change: Callable[[str], str]) -> R:
    updates: dict[str, Any] = {}
    if model := getattr(recipe, "model", ""):
        updates["model"] = change(model)
    for table in ("seats", "learners", "policies"):
        if isinstance(own := getattr(recipe, table, None), Mapping) and own:
            updates[table] = {
                name: one.model_copy(update={"model": change(text)}) if (text := getattr(one, "model", "")) else one
                for name, one in own.items()
            }
    return recipe.model_copy(update=updates) if updates else recipe
