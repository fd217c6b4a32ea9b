"""Gradients of packs by workers: each has a copy of the model, and computes the gradient of one pack at a time.

The divisor of the loss is computed before the first pack, and the gradients are added in the order of the packs. So the
sum is bit-identical to that of one process, whatever the number of workers.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch

from stratagem.language.models.adapters import active, adapter_parameters
from stratagem.language.models.language_model import LanguageModel
from stratagem.learn.batch import BackwardPass, backward
from stratagem.learn.example import Example
from stratagem.learn.losses.base import Columns, Loss, Totals
from stratagem.learn.packing import Pack
from stratagem.learn.pass_sizes import AttentionKind
from stratagem.learn.policy import Policy
from stratagem.playing.workers.models import CarriedModel, ModelCarrier, copy_of
from stratagem.playing.workers.plan import current
from stratagem.playing.workers.threads import use_threads


class PackPart(NamedTuple):
    """Pack, its examples in its order, their columns, and their log-probabilities under the reference."""

    pack: Pack
    examples: Sequence[Example]
    columns: Columns
    reference: torch.Tensor | None


class PolicySettings(NamedTuple):
    """Settings of `Policy`, by which a worker reads packs in the same way."""

    max_tokens_per_microbatch: int
    chunk: int | None
    share_prefixes: bool
    prefix_batches: bool
    gradient_checkpointing: bool
    fp32_head: bool
    attends_by: AttentionKind | None
    wide: AttentionKind


@dataclass(frozen=True)
class PackUnit:
    """Unit of work: the gradient of one pack."""

    model: CarriedModel
    adapter: str
    settings: PolicySettings
    loss: Loss
    part: PackPart
    totals: Totals
    num_threads: int


class PackResult(NamedTuple):
    """Results of a unit, with the gradient of each weight of the adapter."""

    found: BackwardPass
    gradients: tuple[torch.Tensor | None, ...]


def spread(policy: Policy, adapter: str, loss: Loss, parts: Sequence[PackPart], totals: Totals) -> list[BackwardPass]:
    """Compute the gradient of each pack by the workers of the plan, and add them to those of the adapter, in order."""
    plan, weights, waiting = current(), adapter_parameters(policy.lm, adapter), dict[int, bytes]()
    found = list[BackwardPass]()
    with ModelCarrier(plan) as carrier:
        units = _units(carrier, policy, adapter, loss, parts, totals)
        for index, data in plan.workers.run(_compute, units):
            waiting[index] = data
            while len(found) in waiting:
                result: PackResult = pickle.loads(waiting.pop(len(found)))
                add_gradients(weights, result.gradients)
                found.append(result.found)
    return found


def _units(
    carrier: ModelCarrier, policy: Policy, adapter: str, loss: Loss, parts: Sequence[PackPart], totals: Totals
) -> list[bytes]:
    """Pickle the unit of each pack; the examples have new indices in it."""
    model = carrier.model(policy.lm, [adapter], is_base_trained=False)
    settings = PolicySettings(
        policy.max_tokens_per_microbatch,
        policy.chunk,
        policy.share_prefixes,
        policy.prefix_batches,
        policy.gradient_checkpointing,
        policy.fp32_head,
        policy.attends_by,
        policy.wide,
    )
    number = carrier.plan.threads_per_worker
    own = [part._replace(pack=replace(part.pack, examples=tuple(range(len(part.examples))))) for part in parts]
    return [pickle.dumps(PackUnit(model, adapter, settings, loss, part, totals, number)) for part in own]


def add_gradients(weights: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None]) -> None:
    """Add gradients to those of the weights, as a backward pass does."""
    for weight, gradient in zip(weights, gradients, strict=True):
        if gradient is not None:
            own = gradient.to(weight)
            weight.grad = own if weight.grad is None else weight.grad.add_(own)


# --- in a worker

_policies: WeakKeyDictionary[LanguageModel, tuple[PolicySettings, Policy]] = WeakKeyDictionary()


def _compute(data: bytes) -> bytes:
    """Compute the gradient of a pack by this worker's copy of the model."""
    unit: PackUnit = pickle.loads(data)
    use_threads(unit.num_threads)
    lm = copy_of(unit.model).lm
    weights = adapter_parameters(lm, unit.adapter)
    for weight in weights:
        weight.grad = None
    part = unit.part
    with active(lm, unit.adapter):
        outputs = _policy(lm, unit.settings).outputs(part.pack, part.examples)
        found = backward(unit.loss, outputs, part.columns, part.reference, unit.totals)
    return pickle.dumps(PackResult(found, tuple(weight.grad for weight in weights)))


def _policy(lm: LanguageModel, settings: PolicySettings) -> Policy:
    if lm not in _policies or _policies[lm][0] != settings:
        policy = Policy(
            lm,
            max_tokens_per_microbatch=settings.max_tokens_per_microbatch,
            chunk=settings.chunk,
            share=settings.share_prefixes,
            gradient_checkpointing=settings.gradient_checkpointing,
            fp32_head=settings.fp32_head,
            attention=settings.attends_by,
        )
        policy.prefix_batches, policy.wide = settings.prefix_batches, settings.wide
        _policies[lm] = settings, policy
    return _policies[lm][1]
