"""Batch of a step: the columns that losses read, the place of each example in them, and the backward pass of a loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import torch

from stratagem.base.errors import BadParameter
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.logprobs import TokenOutputs
from stratagem.learn.losses.base import Columns, Loss, LossOutput, Outputs, Totals, check_output


class TokenLayout:
    """Places of the loss tokens of each example in a column of the batch, example after example."""

    def __init__(self, examples: Sequence[Example], device: torch.device | str = "cpu") -> None:
        self._counts = torch.tensor([len(example.loss_positions) for example in examples], dtype=torch.long)
        self._starts = self._counts.cumsum(0) - self._counts
        self._device = device

    def indices(self, numbers: Sequence[int]) -> torch.Tensor:
        """Return the places of the tokens of some examples, one after the other."""
        some = torch.tensor(numbers, dtype=torch.long)
        counts = self._counts[some]
        starts = self._starts[some] - (counts.cumsum(0) - counts)
        places = starts.repeat_interleave(counts) + torch.arange(int(counts.sum()))
        return places.to(self._device)

    def inverse(self, numbers: Sequence[int]) -> torch.Tensor:
        """Return the indices that bring all examples, which stand in this order, back into their own."""
        return torch.argsort(self.indices(numbers))


def select_examples(columns: Columns, numbers: Sequence[int], indices: torch.Tensor) -> Columns:
    """Select some examples of a batch, whose tokens have these indices."""
    some = torch.tensor(numbers, dtype=torch.long, device=indices.device)
    counts = columns.example.bincount(minlength=columns.num_examples)[some]
    return Columns(
        example=torch.arange(len(numbers), device=indices.device).repeat_interleave(counts),
        num_examples=len(numbers),
        tokens={name: column[indices] for name, column in columns.tokens.items()},
        rows={name: column[some] for name, column in columns.rows.items()},
        pairs=None if columns.pairs is None else columns.pairs[some],
    )


def columns_of(examples: Sequence[Example], device: torch.device | str = "cpu") -> Columns:
    """Collate the columns of examples, in their order; all examples must have the same column names."""
    if not examples:
        raise BadParameter("A batch without examples trains nothing: leave the step out.")
    counts = torch.tensor([len(example.loss_positions) for example in examples], device=device)
    tokens = {
        name: _flat(list(chain.from_iterable(example.columns[name] for example in examples)), device)
        for name in _shared_names({frozenset(example.columns) for example in examples})
    }
    rows = {
        name: _flat([example.row[name] for example in examples], device)
        for name in _shared_names({frozenset(example.row) for example in examples})
    }
    paired = [example.pair for example in examples if example.pair is not None]
    if paired and len(paired) < len(examples):
        raise BadParameter("Either all examples of a batch belong to pairs, or none does.")
    return Columns(
        example=torch.arange(len(examples), device=device).repeat_interleave(counts),
        num_examples=len(examples),
        tokens=tokens,
        rows=rows,
        pairs=torch.tensor(paired, device=device) if paired else None,
    )


def _flat(numbers: Sequence[float], device: torch.device | str) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32, device=device)


def _shared_names(names: set[frozenset[str]]) -> list[str]:
    """Return the names that all examples have; a name that only some have is an error."""
    every = names.pop()
    if stray := sorted(every.union(*names) - every.intersection(*names)):
        raise BadParameter(f"Only some examples of the batch have {stray[0]}: give it to all of them, or to none.")
    return sorted(every)


@dataclass(frozen=True)
class BackwardPass:
    """Results of a backward pass; the tensors stay on the device until the step is taken."""

    output: LossOutput
    logprobs: torch.Tensor
    entropies: torch.Tensor
    gap: torch.Tensor | None
    """Largest absolute log-ratio to the reference; None without a reference."""


def loss_outputs(outputs: TokenOutputs, reference: torch.Tensor | None, *, with_values: bool) -> Outputs:
    """Return outputs as losses read them."""
    return Outputs(
        policy_logprobs=outputs.logprobs,
        reference_logprobs=reference,
        entropies=outputs.entropies,
        values=outputs.values if with_values else None,
        target_logprobs=outputs.target_logprobs,
    )


def backward(
    loss: Loss,
    outputs: TokenOutputs,
    columns: Columns,
    reference: torch.Tensor | None,
    totals: Totals,
    *,
    with_values: bool = False,
) -> BackwardPass:
    """Add the gradient of some examples, whose outputs are given, to the weights.

    Old log-probabilities that are missing in the columns are those of this pass.
    """
    if OLD_LOGPROBS in loss.columns and OLD_LOGPROBS not in columns.tokens:
        columns = replace(columns, tokens={**columns.tokens, OLD_LOGPROBS: outputs.logprobs.detach()})
    part = check_output(loss, loss(loss_outputs(outputs, reference, with_values=with_values), columns, totals))
    part.loss.backward()  # type: ignore[no-untyped-call]
    logprobs = outputs.logprobs.detach()
    gap = None if reference is None else (logprobs - reference).abs().max()
    return BackwardPass(replace(part, loss=part.loss.detach()), logprobs, outputs.entropies.detach(), gap)
