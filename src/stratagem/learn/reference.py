"""Reference policies: the base model, an adapter that follows the policy's, or a frozen copy of all weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from stratagem.base.errors import BadParameter
from stratagem.base.named import RegistryReader, in_a_recipe
from stratagem.base.options import whole, within
from stratagem.base.registry import Registry
from stratagem.base.settings import FiniteSettings
from stratagem.language.models.adapters import adapter_parameters, average_adapter, copy_adapter
from stratagem.language.models.devices import check_device, read_device
from stratagem.language.models.language_model import LanguageModel
from stratagem.playing.workers.ranks import ranks_of_plan

REFERENCE = "reference"
"""Name of the reference adapter; a checkpoint saves it beside the policy's."""


class ReferenceRule(ABC):
    """Rule by which a reference adapter follows the policy's: `a <- d a + (1 - d) policy` after optimizer steps."""

    @abstractmethod
    def decay_after(self, steps_taken: int) -> float | None:
        """Return the decay d after a number of optimizer steps, 0 for a copy; None where the reference stays.

        A pure function, so that a resumed run goes on as if it had never stopped.
        """


@dataclass(frozen=True)
class MovingAverage(ReferenceRule):
    """Exponential moving average: the same decay every `update_every` steps."""

    ema_decay: float = 0.99
    """Decay d of the average."""
    update_every: int = 1
    """Optimizer steps between two updates."""

    def __post_init__(self) -> None:
        within("ema", "ema_decay", self.ema_decay, 0.0, 1.0)
        whole("ema", "update_every", self.update_every, 1)

    def decay_after(self, steps_taken: int) -> float | None:
        return None if steps_taken % self.update_every else self.ema_decay


class MovingReference:
    """Reference adapter that follows the policy's, initialized to it.

    The average is taken of the two factors of each layer, as is usual, and not of their product.
    """

    def __init__(self, lm: LanguageModel, source: str, rule: ReferenceRule, name: str = REFERENCE) -> None:
        self.lm = lm
        self.source = source
        self.rule = rule
        self.name = name
        copy_adapter(lm, source, name)

    def reset(self) -> None:
        """Set the reference to the source."""
        average_adapter(self.lm, self.name, self.source, 0.0)

    def update(self, taken: int) -> float | None:
        """Update the reference if it is due after this step; return the largest change of a weight."""
        if (decay := self.rule.decay_after(taken)) is None:
            return None
        if not 0.0 <= decay <= 1.0:
            raise BadParameter(
                f"A reference follows by a decay from 0 to 1, and its rule gave {decay} after step {taken}."
            )
        before = [weight.detach().clone() for weight in adapter_parameters(self.lm, self.name)]
        average_adapter(self.lm, self.name, self.source, decay)
        after = adapter_parameters(self.lm, self.name)
        return max(float((now - was).abs().max()) for now, was in zip(after, before, strict=True))

    def is_new_copy(self, taken: int) -> bool:
        """Return whether the last of these steps made the reference equal to the policy, and the one before did not."""
        return self.rule.decay_after(taken) == 0.0 and self.rule.decay_after(taken - 1) is None


REFERENCE_RULES: dict[str, Callable[..., ReferenceRule]] = {"ema": MovingAverage}
"""Rules by name; `base` and `copy` name references that never change."""

_registry: Registry[ReferenceRule] = Registry(
    "reference", REFERENCE_RULES, "stratagem.references", ReferenceRule, forms=("base", "copy")
)
read_reference_rule = RegistryReader(_registry, ReferenceRule)
"""Reader of a rule: a text or a table."""
_FIXED = ("base", "copy")


class ReferenceSettings(FiniteSettings):
    """Reference of the KL penalty."""

    # Not one table of a registry's object: its other keys are in the configuration of every stored run, whatever the
    # type, and a table without a type changes those of the algorithm's own.
    type: str = "base"
    """`base`: the base model, which never changes; `ema`: the exponential moving average of the policy's adapter;
    `copy`: a frozen copy of the policy at the start of the stage, of all weights where all are trained; or a rule by
    which an adapter follows the policy, as `FILE.py:CLASS(option=value)`."""
    ema_decay: float = Field(default=0.99, ge=0.0, lt=1.0)
    """Decay d of the average: a <- d a + (1 - d) policy."""
    update_every: int = Field(default=1, ge=1)
    """Interval between two updates; the average's, in optimizer steps."""
    dtype: Literal["", "bf16", "fp16", "fp32"] = ""
    """Number format of a copy of all weights; if empty, that of the policy."""
    device: str = ""
    """Device of a copy of all weights, as `cuda:1`; if empty, that of the policy. Several devices shard the copy."""

    @field_validator("type")
    @classmethod
    def _type(cls, named: str) -> str:
        if named not in (*_FIXED, *REFERENCE_RULES):
            in_a_recipe(read_reference_rule)(named)
        return named

    @property
    def follows(self) -> bool:
        """True where the reference is an adapter that follows the policy's."""
        return self.type not in _FIXED

    @field_validator("device")
    @classmethod
    def _device(cls, device: str) -> str:
        return read_device(device)

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
        if ranks_of_plan() is None:  # else the copy is sharded over the devices of the policy
            check_device("reference.device", self.device, "the device of the policy")

    def make(self, lm: LanguageModel, policy: str) -> MovingReference | None:
        """Make the `reference` of a learner on the policy's own model; on resuming, restore the weights afterwards."""
        if not self.follows:
            return None
        average = MovingAverage(self.ema_decay, self.update_every)
        rule = average if self.type == "ema" else read_reference_rule(self.type).value
        return MovingReference(lm, policy, rule, f"{policy}-{REFERENCE}")

    def options(self, lm: LanguageModel) -> dict[str, str]:
        """Return device and number format of a copy of all weights, as `language.models.load` takes them."""
        device = "" if ranks_of_plan() is not None else self.device
        return {"device": device or lm.device, "dtype": self.dtype or lm.dtype}
