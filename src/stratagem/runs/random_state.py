"""The state of torch's random generators, which dropout draws from; all else in the house is drawn by key."""

from __future__ import annotations

from typing import Any


def random_state() -> dict[str, Any]:
    """The state of the generators of this process, as tensors."""
    import torch

    return {"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []}


def restore_random(state: dict[str, Any]) -> None:
    """Go on drawing from there; a device that is not there any more is passed over."""
    import torch

    torch.set_rng_state(state["cpu"])
    for device, one in zip(range(torch.cuda.device_count()), state["cuda"], strict=False):
        torch.cuda.set_rng_state(one, device)
