"""One step of learning: examples in, weights moved, and a report of what happened.

The learner computes every probability itself, under the distribution that the tokens were drawn from. What a batch's
loss divides by is fixed before the first pack is learnt from, and the packs' gradients add up to the batch's, so the
size of a pack changes nothing but memory. The reference is the same weights with the adapter switched off, or another
adapter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

import torch

from stratagem.games.key import Key
from stratagem.learning.batch import columns_of
from stratagem.learning.example import Example
from stratagem.learning.logprobs import TokenOutputs, joined
from stratagem.learning.losses.base import Columns, Loss, LossOutput, Outputs, Totals, combined
from stratagem.learning.optimizer import Optimizer
from stratagem.learning.packing import Pack
from stratagem.learning.policy import Policy
from stratagem.learning.reference import EMAReference
from stratagem.models.adapters import active, dropout_of, dropping

_Reference = Sequence[torch.Tensor] | None
"""What the reference says about each example; None where no loss asks for it."""
OLD_LOGPROBS = "old_logprobs"
"""The policy's own log-probabilities before the step, which ratios are taken against."""


@dataclass(frozen=True)
class Report:
    """What a step did."""

    loss: float
    grad_norm: float
    """L2 norm of the gradient before clipping."""
    learning_rate: float
    num_examples: int
    num_tokens: int
    """Taught tokens."""
    num_read: int
    """Tokens that the model read, once for each pack of the batch."""
    metrics: dict[str, float] = field(default_factory=dict)
    entropy: float | None = None
    """Before the step, the mean over taught tokens."""
    reference_gap: float | None = None
    """Before the step, how far the policy and its reference are apart where they are farthest, in nats."""
    reference_moved: float | None = None
    """How far a reference that follows the policy was moved after the step; None where it was not its turn."""
    examples: Sequence[Example] = field(default=(), repr=False)
    """With the columns that the step was taken with."""


class Learner:
    """A policy, a loss and an optimizer."""

    def __init__(
        self,
        policy: Policy,
        loss: Loss,
        optimizer: Optimizer,
        *,
        adapter: str | None,
        reference: str | EMAReference | None = None,
        value_head: torch.nn.Module | None = None,
        key: Key | None = None,
    ) -> None:
        """`adapter` is at work while learning (None: the base is trained); `reference` likewise (None: the base).

        A reference that is an `EMAReference` of the adapter is moved after every step. `key` draws what dropout drops.
        """
        self.policy = policy
        self.loss = loss
        self.optimizer = optimizer
        self.adapter = adapter
        self.ema_reference = reference if isinstance(reference, EMAReference) else None
        self.reference = reference.name if isinstance(reference, EMAReference) else reference
        self.value_head = value_head
        self.key = key or Key(0)

    def step(self, examples: Sequence[Example]) -> Report:
        """Learn from a batch in one step of the optimizer, which is all that the batch is learnt from.

        The policy before the step is then the one in the step, and no pass of its own is spent on it; dropout makes the
        two differ, so with it one is.
        """
        return self.update(self.with_old_logprobs(examples) if self._drops() else examples)

    def _drops(self) -> bool:
        return self.adapter is not None and dropout_of(self.policy.lm, self.adapter) > 0.0

    def with_old_logprobs(self, examples: Sequence[Example]) -> list[Example]:
        """The examples with the columns that the loss needs from weights as they are now, before several updates."""
        missing = (self.loss.columns & {OLD_LOGPROBS}) - set(examples[0].columns)
        if not missing:
            return list(examples)
        return _with_old(examples, _by_example(self.outputs(examples).logprobs, examples))

    def outputs(self, examples: Sequence[Example], adapter: str | bool | None = True) -> TokenOutputs:
        """What the policy (or another adapter's) says, without gradient, example after example."""
        with torch.no_grad(), active(self.policy.lm, self.adapter if adapter is True else adapter or None):
            return self._said(self.policy.packs(examples), examples)

    def _said(self, packs: Sequence[Pack], examples: Sequence[Example]) -> TokenOutputs:
        """Pack by pack, put back into the order of the examples."""
        return _ordered({number: said for pack in packs for number, said in self._pieces(pack, examples).items()})

    def _pieces(self, pack: Pack, examples: Sequence[Example]) -> dict[int, TokenOutputs]:
        """What is said about each example of a pack, by its number."""
        sizes = [len(examples[number].loss_positions) for number in pack.examples]
        pieces = self.policy.outputs(pack, examples, self.value_head).cut(sizes)
        return dict(zip(pack.examples, pieces, strict=True))

    def update(self, examples: Sequence[Example]) -> Report:
        """The step itself; where the old log-probabilities are not there, they are what this very pass finds."""
        taught = [example for example in examples if not self._aside(example)]
        aside = [example for example in examples if self._aside(example)]
        reference = self._reference([*taught, *aside])
        read = self._read_once(taught, aside, reference) or self._read_twice(taught, aside, reference)
        whole = combined([piece.output for piece in read])
        rate, norm = self.optimizer.learning_rate, self.optimizer.step()
        return Report(
            loss=float(whole.loss),
            grad_norm=norm,
            learning_rate=rate,
            num_examples=len(examples),
            num_tokens=sum(len(example.loss_positions) for example in examples),
            num_read=sum(piece.num_read for piece in read),
            metrics={**whole.means(), **_ends(whole)},
            entropy=_entropy(read),
            reference_gap=_gap(read),
            reference_moved=None
            if self.ema_reference is None
            else self.ema_reference.update(self.optimizer.steps_taken),
            examples=[*self._known(taught, read), *aside],
        )

    def _read_once(self, taught: Sequence[Example], aside: Sequence[Example], reference: _Reference) -> list[_Read]:
        """Where the loss must see the batch first: keep what was read of it, if all of it may be read at once.

        What is set aside goes on from prompts that are read anyway. Nothing where a pass of its own is needed.
        """
        if not self.loss.needs_outputs or self._drops():
            return []
        examples = [*taught, *aside]
        packs = self.policy.packs(examples)
        if sum(len(pack.tokens) for pack in packs) > self.policy.max_tokens_per_microbatch:
            return []
        with self.adapter_active():
            said = {number: piece for pack in packs for number, piece in self._pieces(pack, examples).items()}
            columns = columns_of(examples, self.policy.lm.model.device)
            before = TokenOutputs(*(column.detach() for column in _ordered(said)))
            totals = self.loss.prepare(columns, self._outputs(before, reference))
            return [
                self._learnt(pack, {number: said[number] for number in few}, examples, reference, totals)
                for pack in packs
                if (few := [number for number in pack.examples if number < len(taught)])
            ]

    def _read_twice(self, taught: Sequence[Example], aside: Sequence[Example], reference: _Reference) -> list[_Read]:
        """What the loss must see of the batch is asked first, and then every pack is read and let go of."""
        totals = self._totals(taught, aside, reference)
        packs = self.policy.packs(taught)
        with (
            self.adapter_active(),
            dropping(self.policy.lm, self.adapter, self.key.at("dropout", self.optimizer.steps_taken)),
        ):
            return [self._learnt(pack, self._pieces(pack, taught), taught, reference, totals) for pack in packs]

    def _aside(self, example: Example) -> bool:
        """Whether an example is for the loss's `prepare` alone."""
        return self.loss.prepare_only_row is not None and example.row.get(self.loss.prepare_only_row, 0.0) > 0.0

    def _totals(self, taught: Sequence[Example], aside: Sequence[Example], reference: _Reference) -> Totals:
        """The numbers of the whole batch; where a loss sets examples aside, of these alone is the model asked."""
        columns = columns_of([*taught, *aside], self.policy.lm.model.device)
        if not self.loss.needs_outputs:
            return self.loss.prepare(columns)
        pieces = [self.outputs(taught) if self.loss.prepare_only_row is None else self._unread(taught)]
        pieces += [self.outputs(aside)] if aside else []
        return self.loss.prepare(columns, self._outputs(joined(pieces), reference))

    def _unread(self, examples: Sequence[Example]) -> TokenOutputs:
        """No numbers, in the place of those that nobody asks for."""
        size = sum(len(example.loss_positions) for example in examples)
        column = torch.full((size,), torch.nan, device=self.policy.lm.model.device)
        return TokenOutputs(*(column for _ in TokenOutputs._fields))

    def _learnt(
        self,
        pack: Pack,
        pieces: Mapping[int, TokenOutputs],
        examples: Sequence[Example],
        reference: _Reference,
        totals: Totals,
    ) -> _Read:
        """Add to the gradient the part of those examples of a pack that teach."""
        few = [examples[number] for number in pieces]
        own = None if reference is None else [reference[number] for number in pieces]
        said = joined(list(pieces.values()))
        part = self.loss(self._outputs(said, own), self._columns(few, said), totals)
        part.loss.backward()  # type: ignore[no-untyped-call]
        gap = None if own is None else (said.logprobs.detach() - torch.cat(own)).abs().max()
        logprobs = dict(zip(pieces, _by_example(said.logprobs.detach(), few), strict=True))
        return _Read(replace(part, loss=part.loss.detach()), logprobs, said.entropies.detach(), gap, len(pack.tokens))

    def _columns(self, examples: Sequence[Example], said: TokenOutputs) -> Columns:
        columns = columns_of(examples, self.policy.lm.model.device)
        if OLD_LOGPROBS in columns.tokens or OLD_LOGPROBS not in self.loss.columns:
            return columns
        return replace(columns, tokens={**columns.tokens, OLD_LOGPROBS: said.logprobs.detach()})

    def _known(self, examples: Sequence[Example], read: Sequence[_Read]) -> Sequence[Example]:
        """The examples with the old log-probabilities that the pass found."""
        if OLD_LOGPROBS not in self.loss.columns or not examples or OLD_LOGPROBS in examples[0].columns:
            return examples
        rows = {number: logprobs for one in read for number, logprobs in one.logprobs.items()}
        return _with_old(examples, [rows[number] for number in range(len(examples))])

    def _reference(self, examples: Sequence[Example]) -> _Reference:
        if "reference_logprobs" not in self.loss.extras:
            return None
        with torch.no_grad(), active(self.policy.lm, self.reference):
            return _by_example(self._said(self.policy.packs(examples), examples).logprobs, examples)

    def _outputs(self, said: TokenOutputs, reference: Sequence[torch.Tensor] | None) -> Outputs:
        return Outputs(
            policy_logprobs=said.logprobs,
            reference_logprobs=None if reference is None else torch.cat(list(reference)),
            entropies=said.entropies,
            values=None if self.value_head is None else said.values,
            target_logprobs=said.target_logprobs,
        )

    def adapter_active(self) -> AbstractContextManager[None]:
        """Within, the adapter that is trained is at work: from a forward pass to the end of its backward pass."""
        return active(self.policy.lm, self.adapter)


@dataclass(frozen=True)
class _Read:
    """What was seen of a pack; the tensors stay on the device until the step is taken."""

    output: LossOutput
    logprobs: Mapping[int, torch.Tensor]
    """By the number of the example."""
    entropies: torch.Tensor
    gap: torch.Tensor | None
    num_read: int


def _ordered(said: Mapping[int, TokenOutputs]) -> TokenOutputs:
    """What was said, example after example."""
    return joined([said[number] for number in range(len(said))])


def _entropy(read: Sequence[_Read]) -> float | None:
    return torch.cat([one.entropies for one in read]).mean().item() if read else None


def _gap(read: Sequence[_Read]) -> float | None:
    gaps = [one.gap for one in read if one.gap is not None]
    return torch.stack(gaps).max().item() if gaps else None


def _ends(whole: LossOutput) -> dict[str, float]:
    """The least and the greatest of what was seen, by name."""
    least = {f"{name}_min": low for name, (low, _) in whole.ranges.items()}
    return least | {f"{name}_max": high for name, (_, high) in whole.ranges.items()}


def _by_example(column: torch.Tensor, examples: Sequence[Example]) -> list[torch.Tensor]:
    """A column cut into its examples."""
    return list(torch.split(column, [len(example.loss_positions) for example in examples]))


def _with_old(examples: Sequence[Example], rows: Sequence[torch.Tensor]) -> list[Example]:
    return [
        example.with_columns(**{OLD_LOGPROBS: tuple(row.tolist())}) for example, row in zip(examples, rows, strict=True)
    ]
