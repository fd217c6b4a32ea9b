"""Optimizer step on a batch of training examples.

The learner computes every log-probability itself, under the distribution that the tokens were drawn from. The divisor
of a batch's loss is computed before the first pack, and the gradients of the packs add up to that of the batch, so the
size of a pack changes memory alone. The reference policy is the model without the adapter, another adapter, or another
model: a frozen copy where all weights are trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from stratagem.games.key import Key
from stratagem.language.models.adapters import active, adapter_names, dropout_of, dropping
from stratagem.learn.batch import (
    BackwardPass,
    TokenLayout,
    backward,
    columns_of,
    loss_outputs,
    select_examples,
)
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.logprobs import TokenOutputs, join_pieces
from stratagem.learn.losses.base import Columns, Loss, LossOutput, Outputs, Totals, combine_outputs
from stratagem.learn.optimizer import Optimizer
from stratagem.learn.packing import Pack
from stratagem.learn.policy import Policy
from stratagem.learn.reference import MovingReference
from stratagem.learn.sharded import ShardedPolicy
from stratagem.learn.spread import NO_COLUMNS, PackPart, spread, spread_outputs
from stratagem.playing.workers.plan import current
from stratagem.playing.workers.ranks import ranks_of_plan

_Reference = torch.Tensor | None
"""Log-probabilities of the reference policy for all loss tokens; None where the loss does not need them."""


@dataclass(frozen=True)
class StepReport:
    """Metrics of one optimizer step."""

    loss: float
    grad_norm: float
    """L2 norm of the gradient before clipping."""
    learning_rate: float
    num_examples: int
    num_tokens: int
    """Number of tokens in the loss mask."""
    num_read: int
    """Number of tokens in the forward passes of the batch's packs."""
    metrics: dict[str, float] = field(default_factory=dict)
    entropy: float | None = None
    """Mean entropy over the loss tokens before the step."""
    reference_gap: float | None = None
    """Largest absolute log-ratio of the policy to its reference before the step, in nats."""
    reference_moved: float | None = None
    """Largest weight change of a moving-average reference after the step; None where it was not updated."""
    examples: Sequence[Example] = field(default=(), repr=False)
    """Examples of the step, with all columns that the loss read."""


class Learner:
    """Policy, loss and optimizer, stepped together."""

    def __init__(
        self,
        policy: Policy,
        loss: Loss,
        optimizer: Optimizer,
        *,
        adapter: str | None,
        reference: str | MovingReference | Policy | None = None,
        value_head: torch.nn.Module | None = None,
        key: Key | None = None,
    ) -> None:
        """Train `adapter` (None: the base model) against `reference` (an adapter's name; None: the base model).

        A `MovingReference` of the adapter is updated after every step; a `Policy` is another model, and never changes.
        `key` is the seed of dropout.
        """
        self.policy = policy
        self.loss = loss
        self.optimizer = optimizer
        self.adapter = adapter
        self.moving_reference = reference if isinstance(reference, MovingReference) else None
        self.reference_policy = reference if isinstance(reference, Policy) else policy
        self.reference = reference if isinstance(reference, str) else getattr(reference, "name", None)
        self.value_head = value_head
        self.key = key or Key(0)

    def update_once(self, examples: Sequence[Example]) -> StepReport:
        """Take the only optimizer step on a batch.

        Its old log-probabilities are those of the step's own forward pass, unless dropout makes the two differ.
        """
        return self.update(self.with_old_logprobs(examples) if self.drops else examples)

    @property
    def drops(self) -> bool:
        """True where dropout makes the outputs of a step differ from those before it."""
        return self.adapter is not None and dropout_of(self.policy.lm, self.adapter) > 0.0

    def with_old_logprobs(self, examples: Sequence[Example]) -> list[Example]:
        """Add the old log-probabilities that the loss needs, from the current weights, before several updates."""
        missing = (self.loss.columns & {OLD_LOGPROBS}) - set(examples[0].columns)
        if not missing:
            return list(examples)
        return _with_old(examples, self.outputs(examples).logprobs)

    def outputs(self, examples: Sequence[Example], adapter: str | bool | None = True) -> TokenOutputs:
        """Compute the outputs of the policy (or of another adapter) without gradient, example after example."""
        name = self.adapter if adapter is True else adapter or None
        with torch.no_grad(), active(self.policy.lm, name):
            return _outputs_of(self.policy, examples, name, self.value_head)

    def update(
        self, examples: Sequence[Example], before_step: Callable[[Sequence[Example]], None] | None = None
    ) -> StepReport:
        """Take an optimizer step; missing old log-probabilities are those of its own forward pass.

        `before_step` is called with the trained examples while the weights are still those before the step.
        """
        trained = [example for example in examples if not self._prepare_only(example)]
        extra = [example for example in examples if self._prepare_only(example)]
        batch = _Batch.of([*trained, *extra], len(trained), self.policy.lm.model.device)
        reference = self.reference_outputs(batch.examples)
        read = self._one_pass(batch, reference) or self._two_passes(batch, reference)
        whole, known = combine_outputs([piece.found.output for piece in read]), self._add_old_logprobs(batch, read)
        if before_step is not None:
            before_step(known)
        # right after the reference became a copy the two are equal, and that is no sign of shared weights
        is_copy = self.moving_reference is not None and self.moving_reference.is_new_copy(self.optimizer.steps_taken)
        loss, rate = float(whole.loss), self.optimizer.learning_rate
        norm = self.optimizer.step(loss)
        return StepReport(
            loss=loss,
            grad_norm=norm,
            learning_rate=rate,
            num_examples=len(examples),
            num_tokens=sum(len(example.loss_positions) for example in examples),
            num_read=sum(piece.num_read for piece in read),
            metrics={**whole.means(), **_ends(whole)},
            entropy=_entropy(read),
            reference_gap=None if is_copy else _gap(read),
            reference_moved=None
            if self.moving_reference is None
            else self.moving_reference.update(self.optimizer.steps_taken),
            examples=[*known, *extra],
        )

    def _one_pass(self, batch: _Batch, reference: _Reference) -> list[_Read]:
        """Compute `prepare` and the gradients from one forward pass, where the loss needs outputs and the batch fits.

        Examples for `prepare` alone share prompts that are read anyway. Empty where a second pass is needed.
        """
        if not self.loss.needs_outputs or self.drops or self.policy.is_sharded:
            return []
        packs = self.policy.packs(batch.examples)
        if sum(len(pack.tokens) for pack in packs) > self.policy.max_tokens_per_microbatch:
            return []
        with self.adapter_active():
            outputs = _outputs_of(self.policy, batch.examples, self.adapter, self.value_head)
            before = TokenOutputs(*(column.detach() for column in outputs))
            totals = self.loss.prepare(batch.columns, self._outputs(before, reference))
            numbers = list(range(batch.num_trained))
            some = outputs.at(batch.layout.indices(numbers))
            return [self._backward(some, numbers, batch, reference, totals, sum(len(pack.tokens) for pack in packs))]

    def _two_passes(self, batch: _Batch, reference: _Reference) -> list[_Read]:
        """Compute `prepare` first, then the gradient of every pack."""
        totals = self._totals(batch, reference)
        trained = batch.examples[: batch.num_trained]
        packs = self.policy.packs(trained)
        if self._is_spread(packs):
            return self._spread(packs, batch, reference, totals)
        with (
            self.adapter_active(),
            dropping(self.policy.lm, self.adapter, self.key.at("dropout", self.optimizer.steps_taken)),
        ):
            return [
                self._backward(
                    self.policy.outputs(pack, trained, self.value_head),
                    pack.examples,
                    batch,
                    reference,
                    totals,
                    len(pack.tokens),
                )
                for pack in packs
            ]

    def _prepare_only(self, example: Example) -> bool:
        """Test whether an example is for the loss's `prepare` alone."""
        return self.loss.prepare_only_row is not None and example.row.get(self.loss.prepare_only_row, 0.0) > 0.0

    def _totals(self, batch: _Batch, reference: _Reference) -> Totals:
        """Compute the statistics of the whole batch, with outputs of the examples that `prepare` reads alone."""
        if not self.loss.needs_outputs:
            return self.loss.prepare(batch.columns)
        trained, extra = batch.examples[: batch.num_trained], batch.examples[batch.num_trained :]
        pieces = [self.outputs(trained) if self.loss.prepare_only_row is None else self._placeholder(trained)]
        pieces += [self.outputs(extra)] if extra else []
        return self.loss.prepare(batch.columns, self._outputs(join_pieces(pieces), reference))

    def _placeholder(self, examples: Sequence[Example]) -> TokenOutputs:
        """Return NaN outputs for examples whose outputs are not read."""
        size = sum(len(example.loss_positions) for example in examples)
        column = torch.full((size,), torch.nan, device=self.policy.lm.model.device)
        return TokenOutputs(*(column for _ in TokenOutputs._fields))

    def _backward(
        self,
        outputs: TokenOutputs,
        numbers: Sequence[int],
        batch: _Batch,
        reference: _Reference,
        totals: Totals,
        num_read: int,
    ) -> _Read:
        """Add the gradient of some examples with loss tokens, whose outputs are given."""
        indices = batch.layout.indices(numbers)
        own = None if reference is None else reference[indices]
        columns = select_examples(batch.columns, numbers, indices)
        with_values = self.value_head is not None
        return _Read(backward(self.loss, outputs, columns, own, totals, with_values=with_values), indices, num_read)

    def _spread(self, packs: Sequence[Pack], batch: _Batch, reference: _Reference, totals: Totals) -> list[_Read]:
        """Compute the gradient of every pack by the workers of the plan, or over sharded weights by all ranks."""
        indices = [batch.layout.indices(pack.examples) for pack in packs]
        parts = [
            PackPart(
                pack,
                [batch.examples[number] for number in pack.examples],
                select_examples(batch.columns, pack.examples, own),
                None if reference is None else reference[own],
            )
            for pack, own in zip(packs, indices, strict=True)
        ]
        if isinstance(self.policy, ShardedPolicy):
            results = self.policy.gradients(self.loss, parts, totals)
        else:
            assert self.adapter is not None
            results = spread(self.policy, self.adapter, self.loss, parts, totals, self.value_head)
        return [_Read(found, own, len(pack.tokens)) for pack, own, found in zip(packs, indices, results, strict=True)]

    def _is_spread(self, packs: Sequence[Pack]) -> bool:
        """Test whether the packs are computed by workers, which draw no dropout; sharded weights always are."""
        separate = current().workers.separate and len(packs) > 1 and bool(self.policy.lm.source)
        return self.policy.is_sharded or (separate and self.adapter is not None and not self.drops)

    def _add_old_logprobs(self, batch: _Batch, read: Sequence[_Read]) -> Sequence[Example]:
        """Return the trained examples with the old log-probabilities of the step's forward pass."""
        examples = batch.examples[: batch.num_trained]
        if OLD_LOGPROBS not in self.loss.columns or not examples or OLD_LOGPROBS in examples[0].columns:
            return examples
        order = torch.argsort(torch.cat([one.indices for one in read]))
        return _with_old(examples, torch.cat([one.found.logprobs for one in read])[order])

    def reference_outputs(self, examples: Sequence[Example]) -> _Reference:
        """Return the outputs of the reference for these examples; None where the loss asks for none."""
        if "reference_logprobs" not in self.loss.extras:
            return None
        is_trained = self.reference_policy is self.policy and self.reference == self.adapter
        is_frozen = self.moving_reference is None and not is_trained
        with torch.no_grad(), active(self.reference_policy.lm, self.reference):
            logprobs = _outputs_of(self.reference_policy, examples, self.reference, is_frozen=is_frozen).logprobs
        return logprobs.to(self.policy.lm.model.device)

    def _outputs(self, outputs: TokenOutputs, reference: _Reference) -> Outputs:
        return loss_outputs(outputs, reference, with_values=self.value_head is not None)

    def adapter_active(self) -> AbstractContextManager[None]:
        """Activate the trained adapter in a context, from a forward pass to the end of its backward pass."""
        return active(self.policy.lm, self.adapter)


@dataclass(frozen=True)
class _Batch:
    """Examples of a step, those that are trained first, with their columns."""

    examples: Sequence[Example]
    num_trained: int
    layout: TokenLayout
    columns: Columns

    @classmethod
    def of(cls, examples: Sequence[Example], num_trained: int, device: torch.device) -> _Batch:
        return cls(examples, num_trained, TokenLayout(examples, device), columns_of(examples, device))


class _Read(NamedTuple):
    """Backward pass of some examples."""

    found: BackwardPass
    indices: torch.Tensor
    """Index of each loss token among those of the batch."""
    num_read: int


def _outputs_of(
    policy: Policy,
    examples: Sequence[Example],
    adapter: str | None,
    value_head: torch.nn.Module | None = None,
    *,
    is_frozen: bool = False,
) -> TokenOutputs:
    """Compute the outputs of a policy pack by pack, in the order of the examples; its adapter is active."""
    packs = policy.packs(examples)
    if _is_shared(policy, packs):
        parts = [PackPart(pack, [examples[number] for number in pack.examples], NO_COLUMNS, None) for pack in packs]
        pieces = spread_outputs(policy, adapter, parts, value_head)
    else:
        pieces = policy.outputs_of(packs, examples, value_head, is_frozen=is_frozen)
    layout = TokenLayout(examples, policy.lm.model.device)
    return join_pieces(pieces).at(layout.inverse([number for pack in packs for number in pack.examples]))


def _is_shared(policy: Policy, packs: Sequence[Pack]) -> bool:
    """Test whether ranks share passes without a gradient over a base and its adapters."""
    shares = ranks_of_plan() is not None and len(packs) > 1 and not torch.is_grad_enabled()
    return shares and bool(policy.lm.source and adapter_names(policy.lm)) and not policy.is_sharded


def _entropy(read: Sequence[_Read]) -> float | None:
    return torch.cat([one.found.entropies for one in read]).mean().item() if read else None


def _gap(read: Sequence[_Read]) -> float | None:
    gaps = [one.found.gap for one in read if one.found.gap is not None]
    return torch.stack(gaps).max().item() if gaps else None


def _ends(whole: LossOutput) -> dict[str, float]:
    """Return the minimum and the maximum of each range, by name."""
    least = {f"{name}_min": low for name, (low, _) in whole.ranges.items()}
    return least | {f"{name}_max": high for name, (_, high) in whole.ranges.items()}


def _with_old(examples: Sequence[Example], logprobs: torch.Tensor) -> list[Example]:
    """Add old log-probabilities, given example after example."""
    values, start = logprobs.tolist(), 0
    known = list[Example]()
    for example in examples:
        end = start + len(example.loss_positions)
        known.append(example.with_columns(**{OLD_LOGPROBS: tuple(values[start:end])}))
        start = end
    return known
