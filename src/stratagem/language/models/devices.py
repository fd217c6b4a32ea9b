"""Device of a model and its number format: a GPU where there is one, and what differs there.

The processor's path is the reference. Apple's GPU (`mps`) computes in fp32, and a model stays there only if its logits
agree with those of the processor.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.language.models.folder import read_json
from stratagem.language.models.reference import BadModel
from stratagem.language.models.unloaded import is_dry

VARIABLE = "STRATAGEM_DEVICE"
"""Environment variable that names the device of every model in place of the one that is found."""
MPS_TOLERANCE = 1e-3
"""Largest difference of a logit on Apple's GPU; fp32 passes in another order differ by about 1e-5."""
_NAMED = re.compile(r"cpu|mps|cuda(:[0-9]+)?")
_PROBE = tuple(range(1, 33))
"""Tokens of the pass that is compared; every vocabulary has them."""


def find_device() -> str:
    """Return the device of models: the one that $STRATAGEM_DEVICE names, or cuda, or mps, or cpu."""
    found = _devices()
    named = os.environ.get(VARIABLE, "")
    if not named:
        return found[0]
    if named.partition(":")[0] not in found:
        raise BadModel(f"{VARIABLE} is {named!r}, and this machine has {', '.join(found)}.")
    return named


def _devices() -> list[str]:
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    return [name for name, usable in there.items() if usable]


def read_device(device: str) -> str:
    """Return the name of a device as a setting, empty for the usual one; another text is refused."""
    if device and not _NAMED.fullmatch(device):
        raise ValueError(f"there is no device {device!r}: say cpu, cuda, or one of several as cuda:1")
    return device


def check_device(key: str, device: str, otherwise: str) -> None:
    """Refuse a device that this machine does not have; `key` names it, `otherwise` is the device without it.

    A dry run may be made on another machine than the run, so it refuses none.
    """
    kind, _, number = device.partition(":")
    there = _count_devices(kind)
    if not is_dry() and int(number or 0) >= there:
        raise BadParameter(
            f"`{key}` cannot be {device}: this machine has {there} devices of {kind}. Name another one, or leave it "
            f"out, for {otherwise}."
        )


def _count_devices(kind: str) -> int:
    import torch

    return {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}.get(kind, 1)


def nearest_device(device: str) -> str:
    """Return a device if this machine has it, and the usual one if not: a worker may be on another machine."""
    kind, _, number = device.partition(":")
    return device if int(number or 0) < _count_devices(kind) else find_device()


def usual_dtype(folder: Path, device: str) -> str:
    """Return the number format: fp32, so that a processor changes no figure; on cuda bf16, unless saved in fp32."""
    import torch

    if not device.startswith("cuda") or _saved_in(folder) == "float32":
        return "fp32"
    return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"


def _saved_in(folder: Path) -> str | None:
    """Return the number format in a model's configuration; older ones call it `torch_dtype`."""
    stated = read_json(folder / "config.json")
    match = stated.get("dtype") or stated.get("torch_dtype")
    return match if isinstance(match, str) else None


def leave_out_cudnn_attention(device: str) -> None:
    """Leave out cuDNN's attention on a GPU: it makes a plan for each length of text, which takes 60 ms."""
    import torch

    if device.startswith("cuda"):
        torch.backends.cuda.enable_cudnn_sdp(False)


def fuse_norms_on_gpu(model: Any, device: str) -> None:
    """Replace the norms of a model on cuda; on a processor they stay, so that figures keep their last bits."""
    from stratagem.language.models.fused_norms import fuse_norms

    if device.startswith("cuda"):
        fuse_norms(model)


def place(model: Any, device: str) -> str:
    """Move a model to its device, and return where it is: on the processor if Apple's GPU computes something else."""
    if not device.startswith("mps"):
        model.to(device)
        return device
    expected = _logits(model)
    deviation = float((_logits(model.to(device)) - expected).abs().max())
    if deviation <= MPS_TOLERANCE:  # False for a nan, too
        return device
    model.to("cpu")
    warnings.warn(
        f"The model stays on the processor: on {device} a logit deviates by {deviation:.2g}, and {MPS_TOLERANCE:g} is "
        "the limit.",
        stacklevel=2,
    )
    return "cpu"


def _logits(model: Any) -> Any:
    import torch

    with torch.inference_mode():
        tokens = torch.tensor([_PROBE], device=next(model.parameters()).device)
        return model(input_ids=tokens).logits.float().cpu()


__all__ = [
    "VARIABLE",
    "check_device",
    "find_device",
    "fuse_norms_on_gpu",
    "leave_out_cudnn_attention",
    "nearest_device",
    "place",
    "read_device",
    "usual_dtype",
]
