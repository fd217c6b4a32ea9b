"""What is learnt from: a text, which of its tokens teach, and what is known about each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stratagem.decoding.vocabulary import Ids
from stratagem.engines.base import Call
from stratagem.errors import BadParameter

Target = Mapping[int, float]
"""A distribution over next tokens, without those of probability nothing."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A text some of whose tokens teach; tokens that were forced, or taken by arg-max, are context."""

    tokens: Ids
    loss_positions: tuple[int, ...]
    """The places of the tokens that teach, ascending; none is the first."""
    allowed: tuple[Ids | None, ...] = ()
    """For each taught token the set that it was drawn from, where one applied; empty where none ever did."""
    entropy_over: tuple[Ids | None, ...] = ()
    """For each taught token the set over which entropy is measured, renormalised, where that is not the distribution
    that it was drawn from: the legal labels, where the policy is over the whole vocabulary (ShapeLLM)."""
    temperature: float = 1.0
    """At which the taught tokens were drawn: probabilities are computed at the same."""
    columns: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Numbers for each taught token: `advantage`, `return`, `old_value`, `weight`, `sampler_logprobs` ..."""
    targets: tuple[Target, ...] = ()
    """For each taught token the distribution that the model is to have there."""
    row: Mapping[str, float] = field(default_factory=dict)
    """Numbers for the whole example: `desirable`, `weight` ..."""
    pair: int | None = None
    """Examples of one number are compared with one another and are kept in one batch."""

    def with_columns(self, **columns: Sequence[float]) -> Example:
        """The same example knowing more of its tokens."""
        return replace(self, columns={**self.columns, **columns})


def of_call(call: Call, **columns: float) -> Example:
    """What a reply teaches: its sampled tokens, each with the same numbers."""
    if call.sampling.top_k or call.sampling.top_p < 1.0:
        raise BadParameter(
            "Replies drawn with top_k or top_p cannot be learnt from: their probabilities are not the policy's. Leave "
            "both out, and set a temperature."
        )
    places = [place for span in call.spans if span.kind == "sampled" for place in range(span.start, span.end)]
    start = len(call.prompt.tokens)
    known = {name: (value,) * len(places) for name, value in columns.items()}
    return Example(
        tokens=(*call.prompt.tokens, *call.tokens),
        loss_positions=tuple(start + place for place in places),
        allowed=tuple(call.allowed[place] for place in places),
        temperature=call.sampling.temperature,
        columns={"sampler_logprobs": tuple(call.sampler_logprobs[place] for place in places), **known},
    )


def of_demonstration(prompt: Ids, reply: Ids, **row: float) -> Example:
    """What a reply that somebody else gave teaches: all of it, the end token included."""
    places = tuple(range(len(prompt), len(prompt) + len(reply)))
    return Example(tokens=(*prompt, *reply), loss_positions=places, row=row)
