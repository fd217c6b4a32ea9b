"""Memory of the device that models are loaded on."""

from __future__ import annotations

import os


def device_memory() -> float:
    """Return the bytes of the GPU that models are loaded on, or of this machine where there is none; 0 if unknown."""
    import torch

    if torch.cuda.is_available():
        return float(torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory)
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 0.0
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
