"""Passes over packs by workers: each has a copy of the model, and reads one pack at a time.

The divisor of the loss is computed before the first pack, and the gradients are added in the order of the packs. So the
sum is bit-identical to that of one process, whatever the number of workers. The costliest packs are given out first.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch

from stratagem.language.models.adapters import active, adapter_parameters
from stratagem.language.models.language_model import LanguageModel
from stratagem.learn.batch import BackwardPass, backward
from stratagem.learn.example import Example
from stratagem.learn.logprobs import TokenOutputs
from stratagem.learn.losses.base import Columns, Loss, Totals
from stratagem.learn.packing import Pack
from stratagem.learn.pass_sizes import AttentionKind, shape_of_pack
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


NO_COLUMNS = Columns(example=torch.zeros(0, dtype=torch.long), num_examples=0)
"""Columns of a pack whose outputs alone are computed."""


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
    loss: Loss | None
    """Loss; None for outputs without a gradient."""
    part: PackPart
    totals: Totals
    num_threads: int
    value_head: torch.nn.Module | None = None


class PackResult(NamedTuple):
    """Results of a unit, with the gradient of each weight of the adapter and of the value head."""

    found: BackwardPass
    gradients: tuple[torch.Tensor | None, ...]


def spread(
    policy: Policy,
    adapter: str,
    loss: Loss,
    parts: Sequence[PackPart],
    totals: Totals,
    value_head: torch.nn.Module | None = None,
) -> list[BackwardPass]:
    """Compute the gradient of each pack by the workers of the plan, and add them to those of the weights, in order."""
    weights, waiting = _weights(policy.lm, adapter, value_head), dict[int, bytes]()
    found = list[BackwardPass]()
    with ModelCarrier(current()) as carrier:
        task = _PackTask(carrier, policy, adapter, loss, totals, value_head)
        for index, data in task.run(_compute, parts):
            waiting[index] = data
            while len(found) in waiting:
                result: PackResult = pickle.loads(waiting.pop(len(found)))
                add_gradients(weights, result.gradients)
                found.append(result.found)
    return found


def spread_outputs(
    policy: Policy, adapter: str | None, parts: Sequence[PackPart], value_head: torch.nn.Module | None
) -> list[TokenOutputs]:
    """Compute the outputs of each pack without gradient by the workers of the plan."""
    with ModelCarrier(current()) as carrier:
        task = _PackTask(carrier, policy, adapter or "", None, {}, value_head)
        found = {index: pickle.loads(data) for index, data in task.run(_read, parts)}
    return [found[index] for index in range(len(parts))]


def cost_of(pack: Pack) -> int:
    """Estimate the cost of a pass over a pack, in attended tokens."""
    return shape_of_pack(pack).tree_cost


class _PackTask(NamedTuple):
    """Passes over packs with one model and one loss."""

    carrier: ModelCarrier
    policy: Policy
    adapter: str
    loss: Loss | None
    totals: Totals
    value_head: torch.nn.Module | None

    def run(self, work: Callable[[bytes], bytes], parts: Sequence[PackPart]) -> Iterator[tuple[int, bytes]]:
        """Give out the passes, the costliest first, and yield the index of each pack with the pickled result."""
        order = sorted(range(len(parts)), key=lambda index: -cost_of(parts[index].pack))
        units = self._units([parts[index] for index in order])
        for position, data in self.carrier.plan.workers.run(work, units):
            yield order[position], data

    def _units(self, parts: Sequence[PackPart]) -> list[bytes]:
        """Pickle the unit of each pack; the examples have new indices in it."""
        policy, names = self.policy, [self.adapter] if self.adapter else []
        model = self.carrier.model(policy.lm, names, is_base_trained=False)
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
        number = self.carrier.plan.threads_per_worker
        own = [numbered_alone(part) for part in parts]
        return [
            pickle.dumps(PackUnit(model, self.adapter, settings, self.loss, part, self.totals, number, self.value_head))
            for part in own
        ]


def numbered_alone(part: PackPart) -> PackPart:
    """Number the examples of a pack from 0 on, in its order."""
    return part._replace(pack=replace(part.pack, examples=tuple(range(len(part.examples)))))


def _weights(lm: LanguageModel, adapter: str, value_head: torch.nn.Module | None) -> list[torch.Tensor]:
    """Return the weights that are trained: those of an adapter, and of a value head."""
    return [*adapter_parameters(lm, adapter), *(() if value_head is None else value_head.parameters())]


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
    unit, lm = _begin(data)
    assert unit.loss is not None
    weights = _weights(lm, unit.adapter, unit.value_head)
    _clear(weights)
    part, head = unit.part, unit.value_head
    with active(lm, unit.adapter):
        outputs = _policy(lm, unit.settings).outputs(part.pack, part.examples, head)
        found = backward(unit.loss, outputs, part.columns, part.reference, unit.totals, with_values=head is not None)
    gradients = tuple(weight.grad for weight in weights)
    _clear(weights)
    return pickle.dumps(PackResult(found, gradients))


def _read(data: bytes) -> bytes:
    """Compute the outputs of a pack without gradient."""
    unit, lm = _begin(data)
    with torch.no_grad(), active(lm, unit.adapter or None):
        outputs = _policy(lm, unit.settings).outputs(unit.part.pack, unit.part.examples, unit.value_head)
    return pickle.dumps(outputs)


def _begin(data: bytes) -> tuple[PackUnit, LanguageModel]:
    unit: PackUnit = pickle.loads(data)
    use_threads(unit.num_threads)
    return unit, copy_of(unit.model).lm


def _clear(weights: Sequence[torch.Tensor]) -> None:
    for weight in weights:
        weight.grad = None


def _policy(lm: LanguageModel, settings: PolicySettings) -> Policy:
    if lm not in _policies or _policies[lm][0] != settings:
        reading = dict(lm.reading)
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
        lm.reading.update(reading)  # the model may be the program's own, which says why it is read so
        _policies[lm] = settings, policy
    return _policies[lm][1]
