"""Optimizers by name, with a learning-rate schedule and gradient clipping; AdamW by default.

Weights in bfloat16 or float16 are updated in fp32 and rounded afterwards: a step is often too small for the short
format.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
from pydantic import Field, PlainSerializer, PlainValidator

from stratagem.base.errors import BadParameter
from stratagem.base.named import NamedObject, RegistryReader, in_a_recipe
from stratagem.base.options import within
from stratagem.base.registry import Registry
from stratagem.base.settings import FiniteSettings
from stratagem.learn.optimizer_files import STATE, read_tensors
from stratagem.learn.schedules import NamedSchedule, read_schedule

DecayRate = Annotated[float, Field(ge=0.0, lt=1.0)]
"""Decay rate of a running average, at least 0 and below 1."""


_LONG = "long"
"""Name of the fp32 master copy of a weight."""
WeightGroups = Sequence[Mapping[str, Any]]
"""Groups of weights as torch takes them: `{"params": [...]}`."""


class OptimizerMethod(ABC):
    """Optimizer of torch over groups of weights; the learning rate of each group is set before every step."""

    @abstractmethod
    def make(self, groups: WeightGroups, settings: OptimizerSettings, *, foreach: bool | None) -> torch.optim.Optimizer:
        """Make the optimizer.

        `foreach` is False where torch is to update weight after weight, as where memory is short; None leaves it open.
        """


@dataclass(frozen=True)
class AdamW(OptimizerMethod):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    def make(self, groups: WeightGroups, settings: OptimizerSettings, *, foreach: bool | None) -> torch.optim.Optimizer:
        # one pass over each weight where torch otherwise makes nine: a third of the time of a small model's step
        fused = all(weight.device.type == "cpu" for group in groups for weight in group["params"])
        return torch.optim.AdamW(
            [dict(group) for group in groups],
            lr=settings.learning_rate,
            betas=settings.betas,
            eps=settings.epsilon,
            weight_decay=settings.weight_decay,
            foreach=None if fused else foreach,
            fused=fused or None,
        )


@dataclass(frozen=True)
class SGD(OptimizerMethod):
    """Stochastic gradient descent with momentum: `v <- momentum v + g`, `w <- w - learning_rate v`.

    When not: language models, whose gradients differ by orders of magnitude from layer to layer. It is for small
    models, and for checks, since a step is proportional to the gradient.
    """

    momentum: float = 0.0
    """Decay rate of the running sum of gradients; 0 has none."""

    def __post_init__(self) -> None:
        within(None, "momentum", self.momentum, 0.0, 1.0)

    def make(self, groups: WeightGroups, settings: OptimizerSettings, *, foreach: bool | None) -> torch.optim.Optimizer:
        return torch.optim.SGD(
            [dict(group) for group in groups],
            lr=settings.learning_rate,
            momentum=self.momentum,
            weight_decay=settings.weight_decay,
            foreach=foreach,
        )


OPTIMIZERS: dict[str, Callable[..., OptimizerMethod]] = {"adamw": AdamW, "sgd": SGD}
"""Optimizers by name."""

_registry: Registry[OptimizerMethod] = Registry("optimizer", OPTIMIZERS, "stratagem.optimizers", OptimizerMethod)

read_method = RegistryReader(_registry, OptimizerMethod)
"""Reader of an optimizer in a recipe: a text or a table."""
NamedMethod = Annotated[
    NamedObject[OptimizerMethod], PlainValidator(in_a_recipe(read_method)), PlainSerializer(NamedObject.table)
]
"""Optimizer as a setting."""


class OptimizerSettings(FiniteSettings):
    """Optimizer with a learning-rate schedule and gradient clipping."""

    method: NamedMethod = read_method("adamw")
    """Optimizer, by name with its parameters: `adamw`, or `sgd`."""
    learning_rate: float = Field(default=1e-5, gt=0.0)
    """Learning rate; the optimizer's, at the peak of its schedule."""
    schedule: NamedSchedule = read_schedule("constant")
    """Schedule of the learning rate after the warmup, by name with its parameters: `constant`, `linear` or `cosine`."""
    warmup_ratio: float = Field(default=0.0, ge=0.0, le=1.0)
    """Share of all steps over which the learning rate rises linearly from 0."""
    betas: tuple[DecayRate, DecayRate] = (0.9, 0.999)
    """AdamW's decay rates of the running averages of the gradient and of its square."""
    epsilon: float = Field(default=1e-8, gt=0.0)
    """AdamW's epsilon, added to the denominator."""
    weight_decay: float = Field(default=0.0, ge=0.0)
    """Decoupled weight decay (Loshchilov and Hutter 2019)."""
    max_grad_norm: float = Field(default=1.0, gt=0.0, allow_inf_nan=True)
    """Gradient clipping: maximum L2 norm of the gradient; `inf` clips nothing."""


class OptimizerSnapshot(NamedTuple):
    """Copy of the weights and of the optimizer state."""

    weights: list[torch.Tensor]
    state: dict[str, Any]


class Optimizer:
    """Optimizer over some weights, stepped with the schedule."""

    def __init__(
        self,
        weights: Iterable[torch.nn.Parameter],
        settings: OptimizerSettings,
        steps: int,
        unscaled: Iterable[torch.nn.Parameter] = (),
    ) -> None:
        """The schedule needs the total number of `steps`; a caller without it sets `learning_rate_scale`.

        That factor is not applied to the `unscaled` weights.
        """
        scaled = list(weights)
        self.weights = [*scaled, *unscaled]
        self.settings = settings
        self.steps = steps
        self.steps_taken = 0
        self.learning_rate_scale = 1.0
        self._long = [_long(weight) for weight in self.weights]
        groups = [self._long[: len(scaled)], self._long[len(scaled) :]]
        self.method = settings.method.value.make(
            [{"params": group} for group in groups if group],
            settings,
            foreach=False if self.rounded_pairs() else None,  # on a GPU the default stores one number a weight more
        )

    @property
    def learning_rate(self) -> float:
        """Learning rate of the next step, before `learning_rate_scale`."""
        return self.settings.learning_rate * learning_rate_factor(self.settings, self.steps_taken, self.steps)

    def step(self, loss: float = 0.0) -> float:
        """Take a step along the current gradients, clear them, and return their norm before clipping.

        No weight changes if the norm, or the loss that they belong to, is not finite.
        """
        for long, short in self.rounded_pairs():
            long.grad = None if short.grad is None else short.grad.to(long)
            short.grad = None  # before the next is converted: gradients in both formats may not fit
        norm = float(torch.nn.utils.clip_grad_norm_(self._long, self.settings.max_grad_norm))
        if math.isfinite(norm) and math.isfinite(loss):
            for group, scale in zip(self.method.param_groups, (self.learning_rate_scale, 1.0), strict=False):
                group["lr"] = scale * self.learning_rate
            self.method.step()
            # the fused step leaves the count of changes as it is, and states of frozen weights are cached by it
            torch.autograd.graph.increment_version(self._long)
            self._round()
        for weight in (*self._long, *self.weights):
            weight.grad = None
        self.steps_taken += 1
        return norm

    def rounded_pairs(self) -> list[tuple[torch.Tensor, torch.nn.Parameter]]:
        """Return the pairs of an fp32 master copy and its weight in a short format."""
        pairs = zip(self._long, self.weights, strict=True)
        return [(long, short) for long, short in pairs if long is not short]

    def _round(self) -> None:
        with torch.no_grad():
            for long, short in self.rounded_pairs():
                short.copy_(long)

    def reset(self, weights: Iterable[torch.Tensor]) -> None:
        """Set the weights and clear the optimizer's state; the schedule continues."""
        with torch.no_grad():
            for long, short, value in zip(self._long, self.weights, weights, strict=True):
                long.copy_(value)
                short.copy_(value)
        self.method.state.clear()

    def snapshot(self) -> OptimizerSnapshot:
        """Copy the weights and the optimizer state."""
        weights = [weight.detach().clone() for weight in self.weights]
        return OptimizerSnapshot(weights, copy.deepcopy(self.state()))

    def undo(self, before: OptimizerSnapshot) -> None:
        """Restore a snapshot."""
        with torch.no_grad():
            for weight, value in zip(self.weights, before.weights, strict=True):
                weight.copy_(value)
        self.restore(before.state)

    def state(self) -> dict[str, Any]:
        """Return the optimizer state for a checkpoint, with the fp32 master copies of weights in a short format."""
        long = [weight.detach() for weight, _ in self.rounded_pairs()]
        return {"adam": self.method.state_dict(), "taken": self.steps_taken, "long": long}

    def split_state(self) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """Return the state without the tensors of the weights' shapes, and these by name."""
        return split_tensors(self.state())

    def write(self, folder: Path) -> None:
        """Write into a checkpoint's folder what `state` leaves out, which is nothing in one process."""

    def restore(self, state: dict[str, Any], folder: Path | None = None) -> None:
        """Continue from a state; weights with an fp32 master copy are set from it.

        The tensors of a state that several ranks have written are in the folder of the checkpoint.
        """
        if "tensors" in state:
            assert folder is not None, "a state of several ranks is in a checkpoint"
            self.join_state(state, lambda tensors: read_tensors(tensors, folder / STATE))
            return
        if len(state["long"]) != len(self.rounded_pairs()):
            raise BadParameter("The run was begun with weights in another format: resume it with the dtype it had.")
        self.method.load_state_dict(state["adam"])
        self.steps_taken = state["taken"]
        with torch.no_grad():
            for (long, _), saved in zip(self.rounded_pairs(), state["long"], strict=True):
                long.copy_(saved)
        self._round()

    def join_state(self, plain: Mapping[str, Any], read: Callable[[Mapping[str, torch.Tensor]], None]) -> None:
        """Continue from a state that `split_tensors` split; `read` fills tensors of the weights' shapes by name."""
        long = [weight for weight, _ in self.rounded_pairs()]
        tensors = {
            f"{number}.{name}": torch.zeros_like(self._long[number], requires_grad=False)
            for number, names in plain["tensors"].items()
            for name in names
        }
        copies = {f"{number}.{_LONG}": torch.zeros_like(one, requires_grad=False) for number, one in enumerate(long)}
        read({**tensors, **(copies if plain["long"] else {})})
        adam = plain["adam"]
        entries = {
            number: {**adam["state"][number], **{name: tensors[f"{number}.{name}"] for name in names}}
            for number, names in plain["tensors"].items()
        }
        whole = {**plain, "adam": {**adam, "state": entries}, "long": list(copies.values()) if plain["long"] else []}
        del whole["tensors"]
        self.restore(whole)


def split_tensors(state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Split a state of an optimizer: all but the tensors of the weights' shapes, and these by name.

    In the first, `tensors` has the names of a weight's tensors, by its number.
    """
    adam, tensors = state["adam"], dict[str, torch.Tensor]()
    names: dict[int, list[str]] = {}
    rest: dict[int, dict[str, Any]] = {}
    for number, entries in adam["state"].items():
        names[number] = [name for name, value in entries.items() if isinstance(value, torch.Tensor) and value.ndim]
        rest[number] = {name: value for name, value in entries.items() if name not in names[number]}
        tensors |= {f"{number}.{name}": entries[name] for name in names[number]}
    tensors |= {f"{number}.{_LONG}": value for number, value in enumerate(state["long"])}
    plain = {**state, "adam": {**adam, "state": rest}, "long": len(state["long"]), "tensors": names}
    return plain, tensors


def _long(weight: torch.nn.Parameter) -> torch.Tensor:
    """Return the weight, or an fp32 master copy of a weight in a short format."""
    if weight.dtype not in (torch.bfloat16, torch.float16):
        return weight
    return weight.detach().float().requires_grad_()


def learning_rate_factor(settings: OptimizerSettings, taken: int, steps: int) -> float:
    """Return the factor of the peak learning rate after a number of steps."""
    warmup = round(settings.warmup_ratio * steps)
    if taken < warmup:
        return (taken + 1) / warmup
    return settings.schedule.value.factor(min(1.0, (taken - warmup) / max(1, steps - warmup)))
