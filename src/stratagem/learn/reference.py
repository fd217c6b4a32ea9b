"""Reference policies: the base model, a moving average of the policy's adapter, or a frozen copy of all weights."""

from __future__ import annotations

import re
from typing import Literal, Self

import torch
from pydantic import Field, field_validator, model_validator

from stratagem.base.errors import BadParameter
from stratagem.base.settings import FiniteSettings
from stratagem.language.models.adapters import adapter_parameters, average_adapter, copy_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.unloaded import is_dry

REFERENCE = "reference"
"""Name of the reference adapter; a checkpoint saves it beside the policy's."""
_DEVICE = re.compile(r"cpu|mps|cuda(:[0-9]+)?")


class EMAReference:
    """Exponential moving average of an adapter's weights: `a <- d a + (1 - d) source`, initialized to the source.

    The average is taken of the two factors of each layer, as is usual, and not of their product.
    """

    def __init__(
        self, lm: LanguageModel, source: str, *, ema_decay: float = 0.99, update_every: int = 1, name: str = REFERENCE
    ) -> None:
        """Update the average every `update_every` steps, with decay `ema_decay`."""
        self.lm = lm
        self.source = source
        self.ema_decay = ema_decay
        self.update_every = update_every
        self.name = name
        copy_adapter(lm, source, name)

    def reset(self) -> None:
        """Set the average to the source."""
        average_adapter(self.lm, self.name, self.source, 0.0)

    def update(self, taken: int) -> float | None:
        """Update the average if it is due after this step; return the largest change of a weight."""
        if taken % self.update_every:
            return None
        before = [weight.detach().clone() for weight in adapter_parameters(self.lm, self.name)]
        average_adapter(self.lm, self.name, self.source, self.ema_decay)
        after = adapter_parameters(self.lm, self.name)
        return max(float((now - was).abs().max()) for now, was in zip(after, before, strict=True))


class ReferenceSettings(FiniteSettings):
    """Reference of the KL penalty."""

    type: Literal["base", "ema", "copy"] = "base"
    """`base`: the base model, which never changes; `ema`: the exponential moving average of the policy's adapter;
    `copy`: a frozen copy of the policy at the start of the stage, of all weights where all are trained."""
    ema_decay: float = Field(default=0.99, ge=0.0, lt=1.0)
    """Decay d of the average: a <- d a + (1 - d) policy."""
    update_every: int = Field(default=1, ge=1)
    """Interval between two updates; the average's, in optimizer steps."""
    dtype: Literal["", "bf16", "fp16", "fp32"] = ""
    """Number format of a copy of all weights; if empty, that of the policy."""
    device: str = ""
    """Device of a copy of all weights, as `cuda:1`; if empty, that of the policy."""

    @field_validator("device")
    @classmethod
    def _device(cls, device: str) -> str:
        if device and not _DEVICE.fullmatch(device):
            raise ValueError(f"there is no device {device!r}: say cpu, cuda, or one of several as cuda:1")
        return device

    @model_validator(mode="after")
    def _check_average(self) -> Self:
        usual = type(self).model_fields
        idle = [name for name in ("ema_decay", "update_every") if getattr(self, name) != usual[name].default]
        if self.type != "ema" and idle:
            raise ValueError(f'`{idle[0]}` is of a moving average: say `type = "ema"`, or leave it out')
        return self

    @model_validator(mode="after")
    def _check_copy(self) -> Self:
        if self.type != "copy" and (self.dtype or self.device):
            raise ValueError(
                '`dtype` and `device` are of a copy of all weights: say `type = "copy"`, or leave them out'
            )
        return self

    def check_device(self) -> None:
        """Refuse a device that this machine does not have, before anything is trained."""
        kind, _, number = self.device.partition(":")
        there = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}.get(kind, 1)
        if not is_dry() and int(number or 0) >= there:
            raise BadParameter(
                f"`reference.device` cannot be {self.device}: this machine has {there} devices of {kind}. Name another "
                "one, or leave it out, for the device of the policy."
            )

    def make(self, lm: LanguageModel, policy: str) -> EMAReference | None:
        """Make the `reference` of a learner on the policy's own model; on resuming, restore the weights afterwards."""
        if self.type != "ema":
            return None
        name = f"{policy}-{REFERENCE}"
        return EMAReference(lm, policy, ema_decay=self.ema_decay, update_every=self.update_every, name=name)

    def options(self, lm: LanguageModel) -> dict[str, str]:
        """Return device and number format of a copy of all weights, as `language.models.load` takes them."""
        return {"device": self.device or lm.device, "dtype": self.dtype or lm.dtype}
