"""One step of learning: examples in, weights moved, and a report of what happened.

The learner computes every probability itself, under the distribution that the tokens were drawn from. What a batch's
loss divides by is fixed before the first pack is read, and the packs' gradients add up to the batch's, so the size of a
pack changes nothing but memory. The reference is the same weights with the adapter switched off, or another adapter.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch

from stratagem.learning.batch import columns_of
from stratagem.learning.example import Example
from stratagem.learning.logprobs import Said, joined
from stratagem.learning.losses.base import Loss, LossOutput, Outputs, combined
from stratagem.learning.optimiser import Optimiser
from stratagem.learning.packing import Pack
from stratagem.learning.policy import Policy
from stratagem.models.adapters import active

OLD = "old_logprobs"
"""The policy's own log-probabilities before the step, which ratios are taken against."""


@dataclass(frozen=True)
class Report:
    """What a step did."""

    loss: float
    norm: float
    """Of the gradient, before it was cut."""
    rate: float
    num_examples: int
    num_tokens: int
    """Taught tokens."""
    num_read: int
    """Tokens that the model read, once for each pack of the batch."""
    metrics: dict[str, float] = field(default_factory=dict)


class Learner:
    """A policy, a loss and an optimiser."""

    def __init__(
        self,
        policy: Policy,
        loss: Loss,
        optimiser: Optimiser,
        *,
        adapter: str | None,
        reference: str | None = None,
        value_head: torch.nn.Module | None = None,
    ) -> None:
        """`adapter` is at work while learning (None: the base is trained); `reference` likewise (None: the base)."""
        self.policy = policy
        self.loss = loss
        self.optimiser = optimiser
        self.adapter = adapter
        self.reference = reference
        self.value_head = value_head

    def step(self, examples: Sequence[Example]) -> Report:
        """Learn from a batch in one step of the optimiser."""
        known = self.prepared(examples)
        return self.update(known)

    def prepared(self, examples: Sequence[Example]) -> list[Example]:
        """The examples with the columns that the loss needs from weights as they are now."""
        missing = (self.loss.columns & {OLD}) - set(examples[0].columns)
        if not missing:
            return list(examples)
        said = self.fixed(examples)
        return [
            example.with_columns(**{OLD: tuple(row.tolist())})
            for example, row in zip(examples, _by_example(said.logprobs, examples), strict=True)
        ]

    def fixed(self, examples: Sequence[Example], adapter: str | bool | None = True) -> Said:
        """What the policy (or another adapter's) says, without gradient, example after example."""
        with torch.no_grad(), self._weights(self.adapter if adapter is True else adapter or None):
            return self._said(self.policy.packs(examples), examples)

    def _said(self, packs: Sequence[Pack], examples: Sequence[Example]) -> Said:
        """Pack by pack, put back into the order of the examples."""
        rows: dict[int, Said] = {}
        for pack in packs:
            sizes = [len(examples[number].taught) for number in pack.examples]
            pieces = self.policy.said(pack, examples, self.value_head).cut(sizes)
            rows.update(zip(pack.examples, pieces, strict=True))
        return joined([rows[number] for number in range(len(examples))])

    def update(self, examples: Sequence[Example]) -> Report:
        """The step itself; every column is there."""
        device = self.policy.lm.model.device
        packs = self.policy.packs(examples)
        reference = self._reference(examples)
        fixed = self._outputs(self.fixed(examples), reference) if self.loss.fixed else None
        totals = self.loss.prepare(columns_of(examples, device), fixed)
        pieces = list[LossOutput]()
        with self._weights(self.adapter):
            for pack in packs:
                few = [examples[number] for number in pack.examples]
                own = None if reference is None else _picked(reference, examples, pack.examples)
                outputs = self._outputs(self.policy.said(pack, examples, self.value_head), own)
                part = self.loss(outputs, columns_of(few, device), totals)
                part.loss.backward()  # type: ignore[no-untyped-call]
                pieces.append(replace(part, loss=part.loss.detach()))
        whole = combined(pieces)
        rate, norm = self.optimiser.rate, self.optimiser.step()
        return Report(
            loss=float(whole.loss),
            norm=norm,
            rate=rate,
            num_examples=len(examples),
            num_tokens=sum(len(example.taught) for example in examples),
            num_read=sum(len(pack.tokens) for pack in packs),
            metrics={**whole.means(), **_ends(whole)},
        )

    def _reference(self, examples: Sequence[Example]) -> torch.Tensor | None:
        if "reference_logprobs" not in self.loss.extras:
            return None
        with torch.no_grad(), self._weights(self.reference):
            return self._said(self.policy.packs(examples), examples).logprobs

    def _outputs(self, said: Said, reference: torch.Tensor | None) -> Outputs:
        return Outputs(
            policy_logprobs=said.logprobs,
            reference_logprobs=reference,
            entropies=said.entropies,
            values=None if self.value_head is None else said.values,
            target_logprobs=said.expected,
        )

    @contextlib.contextmanager
    def _weights(self, adapter: str | None) -> Iterator[None]:
        """The adapter stays at work from the forward pass to the end of the backward pass, which reads it again."""
        with active(self.policy.lm, adapter):
            yield


def _ends(whole: LossOutput) -> dict[str, float]:
    """The least and the greatest of what was seen, by name."""
    least = {f"{name}_min": low for name, (low, _) in whole.ranges.items()}
    return least | {f"{name}_max": high for name, (_, high) in whole.ranges.items()}


def _by_example(column: torch.Tensor, examples: Sequence[Example]) -> list[torch.Tensor]:
    """A column cut into its examples."""
    return list(torch.split(column, [len(example.taught) for example in examples]))


def _picked(column: torch.Tensor, examples: Sequence[Example], numbers: Sequence[int]) -> torch.Tensor:
    """The parts of a column that belong to some examples."""
    rows = _by_example(column, examples)
    return torch.cat([rows[number] for number in numbers])
