"""Optimizer step on a batch of training examples.

The learner computes every log-probability itself, under the distribution that the tokens were drawn from. The divisor
of a batch's loss is computed before the first pack, and the gradients of the packs add up to that of the batch, so the
size of a pack changes memory alone. The reference policy is the model without the adapter, another adapter, or another
model: a frozen copy where all weights are trained.
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
"""Log-probabilities of the reference policy for each example; None where the loss does not need them."""
OLD_LOGPROBS = "old_logprobs"
"""Column of the policy's log-probabilities before the step, the denominator of ratios."""


@dataclass(frozen=True)
class Report:
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
        reference: str | EMAReference | Policy | None = None,
        value_head: torch.nn.Module | None = None,
        key: Key | None = None,
    ) -> None:
        """Train `adapter` (None: the base model) against `reference` (an adapter's name; None: the base model).

        An `EMAReference` of the adapter is updated after every step; a `Policy` is another model, and never changes.
        `key` is the seed of dropout.
        """
        self.policy = policy
        self.loss = loss
        self.optimizer = optimizer
        self.adapter = adapter
        self.ema_reference = reference if isinstance(reference, EMAReference) else None
        self.reference_policy = reference if isinstance(reference, Policy) else policy
        self.reference = reference if isinstance(reference, str) else getattr(reference, "name", None)
        self.value_head = value_head
        self.key = key or Key(0)

    def step(self, examples: Sequence[Example]) -> Report:
        """Take the only optimizer step on a batch.

        Its old log-probabilities are those of the step's own forward pass, unless dropout makes the two differ.
        """
        return self.update(self.with_old_logprobs(examples) if self._drops() else examples)

    def _drops(self) -> bool:
        return self.adapter is not None and dropout_of(self.policy.lm, self.adapter) > 0.0

    def with_old_logprobs(self, examples: Sequence[Example]) -> list[Example]:
        """Add the old log-probabilities that the loss needs, from the current weights, before several updates."""
        missing = (self.loss.columns & {OLD_LOGPROBS}) - set(examples[0].columns)
        if not missing:
            return list(examples)
        return _with_old(examples, _by_example(self.outputs(examples).logprobs, examples))

    def outputs(self, examples: Sequence[Example], adapter: str | bool | None = True) -> TokenOutputs:
        """Compute the outputs of the policy (or of another adapter) without gradient, example after example."""
        with torch.no_grad(), active(self.policy.lm, self.adapter if adapter is True else adapter or None):
            return _outputs_of(self.policy, examples, self.value_head)

    def _pieces(self, pack: Pack, examples: Sequence[Example]) -> dict[int, TokenOutputs]:
        """Compute the outputs of each example of a pack, by its index."""
        return _pieces_of(self.policy, pack, examples, self.value_head)

    def update(self, examples: Sequence[Example]) -> Report:
        """Take an optimizer step; missing old log-probabilities are those of its own forward pass."""
        trained = [example for example in examples if not self._prepare_only(example)]
        extra = [example for example in examples if self._prepare_only(example)]
        reference = self._reference([*trained, *extra])
        read = self._one_pass(trained, extra, reference) or self._two_passes(trained, extra, reference)
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
            examples=[*self._known(trained, read), *extra],
        )

    def _one_pass(self, trained: Sequence[Example], extra: Sequence[Example], reference: _Reference) -> list[_Read]:
        """Compute `prepare` and the gradients from one forward pass, where the loss needs outputs and the batch fits.

        Examples for `prepare` alone share prompts that are read anyway. Empty where a second pass is needed.
        """
        if not self.loss.needs_outputs or self._drops():
            return []
        examples = [*trained, *extra]
        packs = self.policy.packs(examples)
        if sum(len(pack.tokens) for pack in packs) > self.policy.max_tokens_per_microbatch:
            return []
        with self.adapter_active():
            pieces = {number: piece for pack in packs for number, piece in self._pieces(pack, examples).items()}
            columns = columns_of(examples, self.policy.lm.model.device)
            before = TokenOutputs(*(column.detach() for column in _ordered(pieces)))
            totals = self.loss.prepare(columns, self._outputs(before, reference))
            return [
                self._backward(pack, {number: pieces[number] for number in few}, examples, reference, totals)
                for pack in packs
                if (few := [number for number in pack.examples if number < len(trained)])
            ]

    def _two_passes(self, trained: Sequence[Example], extra: Sequence[Example], reference: _Reference) -> list[_Read]:
        """Compute `prepare` first, then the gradient of every pack."""
        totals = self._totals(trained, extra, reference)
        packs = self.policy.packs(trained)
        with (
            self.adapter_active(),
            dropping(self.policy.lm, self.adapter, self.key.at("dropout", self.optimizer.steps_taken)),
        ):
            return [self._backward(pack, self._pieces(pack, trained), trained, reference, totals) for pack in packs]

    def _prepare_only(self, example: Example) -> bool:
        """Test whether an example is for the loss's `prepare` alone."""
        return self.loss.prepare_only_row is not None and example.row.get(self.loss.prepare_only_row, 0.0) > 0.0

    def _totals(self, trained: Sequence[Example], extra: Sequence[Example], reference: _Reference) -> Totals:
        """Compute the statistics of the whole batch, with outputs of the examples that `prepare` reads alone."""
        columns = columns_of([*trained, *extra], self.policy.lm.model.device)
        if not self.loss.needs_outputs:
            return self.loss.prepare(columns)
        pieces = [self.outputs(trained) if self.loss.prepare_only_row is None else self._placeholder(trained)]
        pieces += [self.outputs(extra)] if extra else []
        return self.loss.prepare(columns, self._outputs(joined(pieces), reference))

    def _placeholder(self, examples: Sequence[Example]) -> TokenOutputs:
        """Return NaN outputs for examples whose outputs are not read."""
        size = sum(len(example.loss_positions) for example in examples)
        column = torch.full((size,), torch.nan, device=self.policy.lm.model.device)
        return TokenOutputs(*(column for _ in TokenOutputs._fields))

    def _backward(
        self,
        pack: Pack,
        pieces: Mapping[int, TokenOutputs],
        examples: Sequence[Example],
        reference: _Reference,
        totals: Totals,
    ) -> _Read:
        """Add the gradient of a pack's examples with loss tokens."""
        few = [examples[number] for number in pieces]
        own = None if reference is None else [reference[number] for number in pieces]
        outputs = joined(list(pieces.values()))
        part = self.loss(self._outputs(outputs, own), self._columns(few, outputs), totals)
        part.loss.backward()  # type: ignore[no-untyped-call]
        gap = None if own is None else (outputs.logprobs.detach() - torch.cat(own)).abs().max()
        logprobs = dict(zip(pieces, _by_example(outputs.logprobs.detach(), few), strict=True))
        return _Read(
            replace(part, loss=part.loss.detach()), logprobs, outputs.entropies.detach(), gap, len(pack.tokens)
        )

    def _columns(self, examples: Sequence[Example], outputs: TokenOutputs) -> Columns:
        columns = columns_of(examples, self.policy.lm.model.device)
        if OLD_LOGPROBS in columns.tokens or OLD_LOGPROBS not in self.loss.columns:
            return columns
        return replace(columns, tokens={**columns.tokens, OLD_LOGPROBS: outputs.logprobs.detach()})

    def _known(self, examples: Sequence[Example], read: Sequence[_Read]) -> Sequence[Example]:
        """Add the old log-probabilities of the step's forward pass."""
        if OLD_LOGPROBS not in self.loss.columns or not examples or OLD_LOGPROBS in examples[0].columns:
            return examples
        rows = {number: logprobs for one in read for number, logprobs in one.logprobs.items()}
        return _with_old(examples, [rows[number] for number in range(len(examples))])

    def _reference(self, examples: Sequence[Example]) -> _Reference:
        if "reference_logprobs" not in self.loss.extras:
            return None
        with torch.no_grad(), active(self.reference_policy.lm, self.reference):
            logprobs = _outputs_of(self.reference_policy, examples).logprobs
        return _by_example(logprobs.to(self.policy.lm.model.device), examples)

    def _outputs(self, outputs: TokenOutputs, reference: Sequence[torch.Tensor] | None) -> Outputs:
        return Outputs(
            policy_logprobs=outputs.logprobs,
            reference_logprobs=None if reference is None else torch.cat(list(reference)),
            entropies=outputs.entropies,
            values=None if self.value_head is None else outputs.values,
            target_logprobs=outputs.target_logprobs,
        )

    def adapter_active(self) -> AbstractContextManager[None]:
        """Activate the trained adapter in a context, from a forward pass to the end of its backward pass."""
        return active(self.policy.lm, self.adapter)


@dataclass(frozen=True)
class _Read:
    """Results of a pack; the tensors stay on the device until the step is taken."""

    output: LossOutput
    logprobs: Mapping[int, torch.Tensor]
    """Log-probabilities by the index of the example."""
    entropies: torch.Tensor
    gap: torch.Tensor | None
    num_read: int


def _outputs_of(policy: Policy, examples: Sequence[Example], value_head: torch.nn.Module | None = None) -> TokenOutputs:
    """Compute the outputs of a policy pack by pack, in the order of the examples."""
    packs = policy.packs(examples)
    pieces = (_pieces_of(policy, pack, examples, value_head) for pack in packs)
    return _ordered({number: piece for some in pieces for number, piece in some.items()})


def _pieces_of(
    policy: Policy, pack: Pack, examples: Sequence[Example], value_head: torch.nn.Module | None
) -> dict[int, TokenOutputs]:
    sizes = [len(examples[number].loss_positions) for number in pack.examples]
    pieces = policy.outputs(pack, examples, value_head).cut(sizes)
    return dict(zip(pack.examples, pieces, strict=True))


def _ordered(outputs: Mapping[int, TokenOutputs]) -> TokenOutputs:
    """Concatenate the outputs, example after example."""
    return joined([outputs[number] for number in range(len(outputs))])


def _entropy(read: Sequence[_Read]) -> float | None:
    return torch.cat([one.entropies for one in read]).mean().item() if read else None


def _gap(read: Sequence[_Read]) -> float | None:
    gaps = [one.gap for one in read if one.gap is not None]
    return torch.stack(gaps).max().item() if gaps else None


def _ends(whole: LossOutput) -> dict[str, float]:
    """Return the minimum and the maximum of each range, by name."""
    least = {f"{name}_min": low for name, (low, _) in whole.ranges.items()}
    return least | {f"{name}_max": high for name, (_, high) in whole.ranges.items()}


def _by_example(column: torch.Tensor, examples: Sequence[Example]) -> list[torch.Tensor]:
    """Split a column by example."""
    return list(torch.split(column, [len(example.loss_positions) for example in examples]))


def _with_old(examples: Sequence[Example], rows: Sequence[torch.Tensor]) -> list[Example]:
    return [
        example.with_columns(**{OLD_LOGPROBS: tuple(row.tolist())}) for example, row in zip(examples, rows, strict=True)
    ]
