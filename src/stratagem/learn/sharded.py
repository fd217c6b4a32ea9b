"""All weights of a model sharded over ranks, by FSDP2 (`torch.distributed.fsdp.fully_shard`; Zhao et al. 2023).

Every rank has a part of each weight, of its gradient, of its fp32 master copy and of the optimizer's state. A layer is
gathered while it is computed. The packs of a batch are dealt to the ranks by cost. Gradients are summed, since the
divisor of the loss is fixed before the first pack. All ranks make the same number of passes, as the gathering needs; a
rank without a pack in a round reads a few tokens whose loss has the factor 0.

The first rank has the whole model, too: its engine plays by it, and checkpoints are written from it. `gather_weights`
brings it up to date, and with it the copies by which other ranks play.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from weakref import finalize

import torch

from stratagem.base.errors import BadParameter
from stratagem.learn.batch import BackwardPass, backward
from stratagem.learn.example import Example
from stratagem.learn.logprobs import TokenOutputs
from stratagem.learn.losses.base import Loss, Totals
from stratagem.learn.optimizer import Optimizer, OptimizerSettings, OptimizerSnapshot, split_tensors
from stratagem.learn.optimizer_files import STATE, read_tensors, write_tensors
from stratagem.learn.packing import Pack, pack_examples
from stratagem.learn.policy import Policy
from stratagem.learn.shard import (
    ModelShard,
    ShardDescription,
    check_shardable,
    describe,
    fill,
    gather,
    make_shard,
    scatter,
)
from stratagem.learn.spread import NO_COLUMNS, PackPart, cost_of, numbered_alone
from stratagem.playing.workers.models import CarriedModel, copy_of, note_gathered, number_of, own_item
from stratagem.playing.workers.ranks import RankWorkers, deal

_IDLE = [Example(tokens=(0, 0), loss_positions=(1,))]
"""Batch of a rank without a pack."""
_digests = count(1)
_dropped: list[int] = []
"""Numbers of models that are gone; their shards are dropped when the next model is sharded."""


class ShardedPolicy(Policy):
    """Policy whose passes over packs are those of sharded weights; made by the first rank."""

    is_sharded = True

    def __init__(self, whole: Policy, ranks: RankWorkers, *, is_trained: bool = True) -> None:
        """Shard the model of a policy; that of a reference, which is not trained, leaves the device as a whole."""
        check_shardable(whole.lm)
        self.__dict__.update(whole.__dict__)
        self.prefix_batches = False  # packs are read as trees, by the modules of the model
        self.ranks = ranks
        self.number = number_of(whole.lm)
        self._is_stale = is_trained
        gc.collect()  # models of earlier stages, whose shards are dropped before this one's are made
        description = describe(whole, self.number, is_trained=is_trained)
        ranks.call_alike(_make, _Making(description, tuple(_dropped)))
        _dropped.clear()
        finalize(whole.lm, _dropped.append, self.number)
        if not is_trained:
            whole.lm.model.to("cpu")

    def outputs_of(
        self,
        packs: Sequence[Pack],
        examples: Sequence[Example],
        value_head: torch.nn.Module | None = None,
        *,
        is_frozen: bool = False,
    ) -> list[TokenOutputs]:
        if value_head is not None:
            raise BadParameter("A value head needs an adapter where weights are sharded over devices.")
        parts = [PackPart(pack, [examples[number] for number in pack.examples], NO_COLUMNS, None) for pack in packs]
        device = self.lm.model.device
        return [TokenOutputs(*(column.to(device) for column in one)) for one in self._run(_read, parts, None, {})]

    def gradients(self, loss: Loss, parts: Sequence[PackPart], totals: Totals) -> list[BackwardPass]:
        """Add the gradients of packs to those of the shards."""
        return self._run(_differentiate, parts, loss, totals)

    def _run(
        self, work: Callable[[Any], Any], parts: Sequence[PackPart], loss: Loss | None, totals: Totals
    ) -> list[Any]:
        """Deal the packs to the ranks, the costliest first, and return the results in the order of the packs."""
        order = sorted(range(len(parts)), key=lambda index: -cost_of(parts[index].pack))
        shares = [[order[position] for position in share] for share in deal(len(order), self.ranks.num_workers)]
        rounds, own = max(map(len, shares)), list(map(numbered_alone, parts))
        tasks = [_ShardTask(self.number, [own[index] for index in share], rounds, loss, totals) for share in shares]
        found: dict[int, Any] = {}
        for share, results in zip(shares, self.ranks.call(work, tasks), strict=True):
            found |= zip(share, results, strict=True)
        return [found[index] for index in range(len(parts))]

    def outputs(
        self,
        pack: Pack,
        examples: Sequence[Example],
        value_head: torch.nn.Module | None = None,
        *,
        is_frozen: bool = False,
    ) -> TokenOutputs:
        """Compute the outputs of a pack by the whole model, as measurements need them."""
        self.gather_weights()
        return super().outputs(pack, examples, value_head)

    def note_step(self) -> None:
        """Note that the weights of the shards have changed."""
        self._is_stale = True

    def gather_weights(self) -> None:
        if not self._is_stale:
            return
        lm = self.lm
        copied = CarriedModel(self.number, lm.source, lm.name, lm.dtype, lm.device, ()) if lm.source else None
        self.ranks.call_alike(_gather, _Gathering(self.number, copied))
        note_gathered(lm, f"gathered {next(_digests)}")
        self._is_stale = False

    def scatter_weights(self) -> None:
        """Give the shards, and the copies of other ranks, the weights of the whole model."""
        self.ranks.call_alike(_scatter, self.number)
        self._is_stale = True
        self.gather_weights()


class ShardedOptimizer(Optimizer):
    """Optimizer of sharded weights, whose steps all ranks take together; made by the first rank."""

    def __init__(self, policy: ShardedPolicy, settings: OptimizerSettings, steps: int) -> None:
        self.policy = policy
        self.settings = settings
        self.steps = steps
        self.steps_taken = 0
        self.learning_rate_scale = 1.0
        self.weights = list(policy.lm.model.parameters())
        policy.ranks.call_alike(_make_optimizer, _OptimizerPlan(policy.number, settings, steps))

    @property
    def _own(self) -> Optimizer:
        """The optimizer of the first rank's part."""
        return optimizer_of(self.policy.number)

    def step(self, loss: float = 0.0) -> float:
        norms = self.policy.ranks.call_alike(_step, _Step(self.policy.number, loss, self.learning_rate_scale))
        self.steps_taken = self._own.steps_taken
        self.policy.note_step()
        return float(norms[0])

    def reset(self, weights: Iterable[torch.Tensor]) -> None:
        raise BadParameter("Weights that are sharded over devices cannot be reset: train an adapter.")

    def snapshot(self) -> OptimizerSnapshot:
        raise BadParameter("An update of weights that are sharded over devices cannot be undone: train an adapter.")

    def state(self) -> dict[str, Any]:
        """Return all but the tensors that `write` saves."""
        return self._own.split_state()[0]

    def write(self, folder: Path) -> None:
        self.policy.ranks.call_alike(_write, _Files(self.policy.number, str(folder / STATE)))

    def restore(self, state: dict[str, Any], folder: Path | None = None) -> None:
        """Continue from the state of any number of shards in a checkpoint's folder, or from that of one process."""
        if "tensors" in state:
            files = _Files(self.policy.number, str((folder or Path()) / STATE), state)
            self.policy.ranks.call_alike(_restore, files)
        else:
            plain, tensors = split_tensors(state)
            given = [tensors, *[None] * (self.policy.ranks.num_workers - 1)]
            self.policy.ranks.call(_restore_whole, [_WholeState(self.policy.number, plain, own) for own in given])
        self.steps_taken = self._own.steps_taken


# --- in every rank

_shards: dict[int, ModelShard] = {}
"""Shards by the number of their model at the first rank."""


def optimizer_of(number: int) -> Optimizer:
    """Return the optimizer of this rank's part of a model."""
    optimizer = _shards[number].optimizer
    assert optimizer is not None, "made before its first step"
    return optimizer


class _Making(NamedTuple):
    description: ShardDescription
    dropped: tuple[int, ...]


def _make(making: _Making) -> None:
    for number in making.dropped:
        _shards.pop(number, None)
    _shards[making.description.number] = make_shard(making.description)


class _ShardTask(NamedTuple):
    """Passes of one rank."""

    number: int
    parts: Sequence[PackPart]
    rounds: int
    """Number of passes of every rank."""
    loss: Loss | None
    totals: Totals

    def pad_rounds(self) -> Iterator[PackPart | None]:
        """Yield the packs, and None in the rounds without one."""
        yield from self.parts
        yield from [None] * (self.rounds - len(self.parts))


@torch.no_grad()
def _read(task: _ShardTask) -> list[TokenOutputs]:
    """Compute the outputs of this rank's packs."""
    shard, found = _shards[task.number], list[TokenOutputs]()
    for part in task.pad_rounds():
        if part is None:
            _read_idly(shard)
        else:
            found.append(shard.policy.outputs(part.pack, part.examples))
    shard.model.reshard()  # without a backward pass what belongs to no layer would stay gathered, and grow old
    return found


def _differentiate(task: _ShardTask) -> list[BackwardPass]:
    """Add the gradients of this rank's packs to those of all shards."""
    shard, found = _shards[task.number], list[BackwardPass]()
    assert task.loss is not None
    for part in task.pad_rounds():
        if part is None:
            (0.0 * _read_idly(shard).logprobs.sum()).backward()  # type: ignore[no-untyped-call]
        else:
            outputs = shard.policy.outputs(part.pack, part.examples)
            found.append(backward(task.loss, outputs, part.columns, part.reference, task.totals))
    return found


def _read_idly(shard: ModelShard) -> TokenOutputs:
    return shard.policy.outputs(pack_examples(_IDLE, 10)[0], _IDLE)


class _Gathering(NamedTuple):
    number: int
    copied: CarriedModel | None
    """Description of the model, by which other ranks have a copy that plays; None where it cannot be loaded there."""


def _gather(task: _Gathering) -> None:
    """Bring the whole model of the first rank, and the copies of the others, up to date."""
    if (whole := own_item(task.number)) is not None:
        gather(_shards[task.number], whole.model)
        return
    copy = copy_of(task.copied) if task.copied is not None else None
    gather(_shards[task.number], copy and copy.lm.model)
    if copy is not None:
        copy.unpublished.add("")


def _scatter(number: int) -> None:
    scatter(_shards[number], number)


class _OptimizerPlan(NamedTuple):
    number: int
    settings: OptimizerSettings
    steps: int


def _make_optimizer(plan: _OptimizerPlan) -> None:
    shard = _shards[plan.number]
    shard.optimizer = Optimizer(shard.weights, plan.settings, plan.steps)


class _Step(NamedTuple):
    number: int
    loss: float
    scale: float


def _step(task: _Step) -> float:
    optimizer = optimizer_of(task.number)
    optimizer.learning_rate_scale = task.scale
    return optimizer.step(task.loss)


class _Files(NamedTuple):
    number: int
    folder: str
    state: Mapping[str, Any] = {}


def _write(files: _Files) -> None:
    write_tensors(optimizer_of(files.number).split_state()[1], Path(files.folder))


def _restore(files: _Files) -> None:
    optimizer_of(files.number).join_state(files.state, lambda tensors: read_tensors(tensors, Path(files.folder)))


class _WholeState(NamedTuple):
    number: int
    state: Mapping[str, Any]
    tensors: Mapping[str, torch.Tensor] | None
    """Tensors of one process, at the first rank."""


def _restore_whole(whole: _WholeState) -> None:
    def take(tensors: Mapping[str, torch.Tensor]) -> None:
        for name, own in tensors.items():
            fill(own, None if whole.tensors is None else whole.tensors[name])

    optimizer_of(whole.number).join_state(whole.state, take)
