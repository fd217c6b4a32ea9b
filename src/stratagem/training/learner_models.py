"""Base models of a run with several learners: the model, the device and the optimizer of each learner.

A recipe has one `model` for all. A learner (a seat of ShapeLLM, a learner of a league, a policy of GRPO) may name
another one in its own table. Learners on the same model and device share it and its engine, each with an adapter; all
others have a model and an engine of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

from pydantic import field_validator

from stratagem.base.settings import FiniteSettings
from stratagem.language.models.devices import check_device, read_device
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.training.recipe_file import over
from stratagem.training.sft import START, AdapterSettings

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PREFIX = "lora_"
"""Prefix of the names of peft's weights."""
SFT = "sft"
"""Name of the stage of SFT, with which its metrics begin."""


@runtime_checkable
class HasOptimizer(Protocol):
    """Settings of an algorithm with an optimizer."""

    @property
    def optimizer(self) -> OptimizerSettings: ...


class LearnerBase(NamedTuple):
    """Base model of one or more learners, which is loaded once."""

    model: str
    """Base model, as a recipe names it."""
    device: str = ""
    """Device; empty for the usual one."""
    owner: str = ""
    """The only learner on it, where all of its weights are trained; empty where learners may share it."""

    def __str__(self) -> str:
        """Name it in tables and sentences."""
        owner = f" of {self.owner}" if self.owner else ""
        return f"{self.model}{owner}{f' on {self.device}' if self.device else ''}"


class LearnerModelSettings(FiniteSettings):
    """Model of one learner."""

    model: str = ""
    """Base model, as `stratagem players` names models; if empty, the recipe's."""
    device: str = ""
    """Device of the model, as `cuda:1`; if empty, the usual one of the machine."""

    @field_validator("device")
    @classmethod
    def _device(cls, device: str) -> str:
        return read_device(device)


class LearnerOptions(LearnerModelSettings):
    """Model of one learner, with its optimizer and adapter where they differ from those of the others."""

    optimizer: OptimizerSettings | None = None
    """Optimizer of this learner; a table changes that of the algorithm, and without one it is the same."""
    adapter: AdapterSettings | None = None
    """LoRA adapter of this learner; without this table it is the recipe's."""


def check_learner_name(name: str, what: str) -> None:
    """Refuse a name that no adapter or metric can have; peft would mistake a piece of its own prefix for an adapter."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a {what}: begin with a letter, and use letters, digits and _")
    if name in _PREFIX or name == START:
        whose = f"a piece of {_PREFIX!r}, with which the names of its adapter's weights begin"
        raise ValueError(
            f"{name!r} cannot name a {what}, since it is {whose if name in _PREFIX else 'the adapter of SFT'}: take "
            f"another, such as {name}1"
        )
    if name == SFT:
        raise ValueError(
            f"{name!r} cannot name a {what}, since the metrics of SFT begin with it: take another, such as {name}1"
        )


def check_devices(table: str, learners: Mapping[str, LearnerModelSettings]) -> None:
    """Refuse a device that this machine does not have, before anything is trained."""
    for name, learner in learners.items():
        if learner.device:
            check_device(f"{table}.{name}.device", learner.device, "the usual device of the machine")


def bases_of_learners(
    model: str, learners: Mapping[str, LearnerModelSettings], *, shared: bool = True
) -> dict[str, LearnerBase]:
    """Return the base of each learner; `model` is that of learners that name none.

    Without `shared` each learner has a base of its own, since it changes all of its weights.
    """
    return {
        name: LearnerBase(learner.model or model, learner.device, "" if shared else name)
        for name, learner in learners.items()
    }


def each_base(bases: Iterable[LearnerBase]) -> tuple[LearnerBase, ...]:
    """Return every base once, in order."""
    return tuple(dict.fromkeys(bases))


def lay_over_optimizer(data: Any, table: str, stage: str, default: HasOptimizer) -> Any:
    """Lay the optimizer of each learner in a recipe's `table` over the optimizer of its algorithm, in `stage`."""
    if not isinstance(data, Mapping) or not isinstance(learners := data.get(table), Mapping):
        return data
    given = data.get(stage, {})
    common: dict[str, Any] = (given if isinstance(given, HasOptimizer) else default).optimizer.model_dump()
    if isinstance(given, Mapping) and isinstance(own := given.get("optimizer", {}), Mapping):
        common = over(common, own)
    laid = {
        name: {**one, "optimizer": over(common, one["optimizer"])}
        if isinstance(one, Mapping) and isinstance(one.get("optimizer"), Mapping)
        else one
        for name, one in learners.items()
    }
    return {**data, table: laid}
