"""Choice of gradient checkpointing where a recipe leaves it open: it is used where activations would not fit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeVar

from stratagem.algorithms.estimates import estimated
from stratagem.training.recipe_file import AnyRecipe

USED = 0.85
"""Share of the device's memory that an estimate may take: totals are within 15 % of what was measured."""
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
    """Memory of the device."""

    def __str__(self) -> str:
        """Say what was chosen, and why."""
        limit = f"the limit is {USED:.0%} of the {self.device / _GIB:.1f} GiB of the device"
        figures = f"the estimate without it is {self.without / _GIB:.1f} GiB, and {limit}"
        return f"Gradient checkpointing is {'on' if self.used else 'off'}: {figures}."


def settled(recipe: R, device: float) -> tuple[R, CheckpointingChoice | None]:
    """Return the recipe with `gradient_checkpointing` on or off, and the choice; None where there was none.

    It stays off where the memory of the device or the sizes of the model are unknown.
    """
    if getattr(recipe, _SETTING, False) != "auto":
        return recipe, None
    plain = recipe.model_copy(update={_SETTING: False})
    estimate = estimated(plain)
    totals = [memory.total() for memory in estimate.memory.values()] if estimate is not None else []
    if not totals or not device:
        return plain, None
    used = max(totals) > USED * device
    return recipe.model_copy(update={_SETTING: used}), CheckpointingChoice(used, max(totals), device)


def device_memory() -> float:
    """Return the bytes of the GPU that models are loaded on, or of this machine where there is none; 0 if unknown."""
    import torch

    if torch.cuda.is_available():
        return float(torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory)
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 0.0
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def settled_here(recipe: R) -> R:
    """Return the recipe of a new run on this machine."""
    return settled(recipe, device_memory())[0]


def settled_as(recipe: R, other: AnyRecipe) -> R:
    """Return the recipe with the choice of a run that was begun by it."""
    chosen = getattr(other, _SETTING, False)
    return recipe.model_copy(update={_SETTING: chosen}) if getattr(recipe, _SETTING, False) == "auto" else recipe


__all__ = ["USED", "CheckpointingChoice", "device_memory", "settled", "settled_as", "settled_here"]
