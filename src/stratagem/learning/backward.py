"""Backward pass of a loss over some examples, from the outputs of their forward pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from stratagem.learning.logprobs import TokenOutputs
from stratagem.learning.losses.base import Columns, Loss, LossOutput, Outputs, Totals, checked

OLD_LOGPROBS = "old_logprobs"
"""Column of the policy's log-probabilities before the step, the denominator of ratios."""


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
    part = checked(loss, loss(loss_outputs(outputs, reference, with_values=with_values), columns, totals))
    part.loss.backward()  # type: ignore[no-untyped-call]
    logprobs = outputs.logprobs.detach()
    gap = None if reference is None else (logprobs - reference).abs().max()
    return BackwardPass(replace(part, loss=part.loss.detach()), logprobs, outputs.entropies.detach(), gap)
