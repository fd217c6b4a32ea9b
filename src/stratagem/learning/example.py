"""Training example: a token sequence, the positions in the loss mask, and the columns of those tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stratagem.decoding.vocabulary import Ids
from stratagem.engines.base import Call
from stratagem.errors import BadParameter

Target = Mapping[int, float]
"""Target distribution over next tokens; tokens of probability 0 are left out."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """Token sequence with a loss mask. Forced tokens and tokens taken by arg-max are context, outside the mask."""

    tokens: Ids
    loss_positions: tuple[int, ...]
    """Positions of the tokens in the loss mask, ascending; the first token is never one."""
    allowed: tuple[Ids | None, ...] = ()
    """Allowed set of each token in the loss mask; None allows all tokens, and an empty tuple does so everywhere."""
    entropy_over: tuple[Ids | None, ...] = ()
    """Set of tokens over which entropy is measured, renormalised, where that is not the sampling distribution: the
    legal labels, where the policy is over the whole vocabulary (ShapeLLM)."""
    temperature: float = 1.0
    """Sampling temperature; log-probabilities are computed at the same temperature."""
    columns: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Columns with one number for each loss token: `advantage`, `return`, `old_value`, `weight` ..."""
    targets: tuple[Target, ...] = ()
    """Target distribution of each token in the loss mask."""
    row: Mapping[str, float] = field(default_factory=dict)
    """Columns with one number for the example: `desirable`, `weight` ..."""
    pair: int | None = None
    """Number of the preference pair; both examples of a pair stay in one batch."""

    def with_columns(self, **columns: Sequence[float]) -> Example:
        """Add columns to the example."""
        return replace(self, columns={**self.columns, **columns})


def example_from_call(call: Call, **columns: float) -> Example:
    """Make the training example of a sampled reply; its sampled tokens are in the loss mask, each with `columns`."""
    if call.sampling.top_k or call.sampling.top_p < 1.0:
        raise BadParameter(
            "Replies drawn with top_k or top_p cannot be learnt from: their probabilities are not the policy's. Leave "
            "both out, and set a temperature."
        )
    positions = [index for span in call.spans if span.kind == "sampled" for index in range(span.start, span.end)]
    start = len(call.prompt.tokens)
    known = {name: (value,) * len(positions) for name, value in columns.items()}
    return Example(
        tokens=(*call.prompt.tokens, *call.tokens),
        loss_positions=tuple(start + index for index in positions),
        allowed=tuple(call.allowed[index] for index in positions),
        temperature=call.sampling.temperature,
        columns={"sampler_logprobs": tuple(call.sampler_logprobs[index] for index in positions), **known},
    )


def example_from_demonstration(prompt: Ids, reply: Ids, **row: float) -> Example:
    """Make the training example of a demonstrated reply; all its tokens are in the loss mask, also the end token."""
    positions = tuple(range(len(prompt), len(prompt) + len(reply)))
    return Example(tokens=(*prompt, *reply), loss_positions=positions, row=row)
