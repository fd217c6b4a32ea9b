"""State of torch's random generators, from which dropout draws; everything else is drawn by key."""

from __future__ import annotations

from typing import Any


def random_state() -> dict[str, Any]:
    """Return the state of the generators of this process, as tensors."""
    import torch

    return {"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []}


def restore_random(state: dict[str, Any]) -> None:
    """Restore the generators; a device that does not exist any more is skipped."""
    import torch

    torch.set_rng_state(state["cpu"])
    for device, generator_state in zip(range(torch.cuda.device_count()), state["cuda"], strict=False):
        torch.cuda.set_rng_state(generator_state, device)
