"""Training example: a token sequence, the positions in the loss mask, and the columns of those tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stratagem.base.errors import BadRecord
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import Call
from stratagem.language.engines.kept_set import KeptSet, TokenSet

Target = Mapping[int, float]
"""Target distribution over next tokens; tokens of probability 0 are left out."""

OLD_LOGPROBS = "old_logprobs"
"""Column of the denominators of ratios: the policy's log-probabilities before the step, or those of a sampler."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """Token sequence with a loss mask. Forced tokens and tokens taken by arg-max are context, outside the mask."""

    tokens: Ids
    loss_positions: tuple[int, ...]
    """Positions of the tokens in the loss mask, ascending; the first token is never one."""
    allowed: tuple[TokenSet | None, ...] = ()
    """Allowed or kept set of each token in the loss mask; None allows all, and an empty tuple does so everywhere."""
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
        return self._copy_with("columns", {**self.columns, **columns})

    def with_row(self, **row: float) -> Example:
        """Add numbers to the example's row."""
        return self._copy_with("row", {**self.row, **row})

    def _copy_with(self, name: str, value: Mapping[str, Any]) -> Example:
        """Copy the example with another field; `replace` takes several times as long, and batches have thousands."""
        example = object.__new__(type(self))
        example.__dict__.update(self.__dict__)
        example.__dict__[name] = value
        return example


def example_from_call(call: Call, **columns: float) -> Example:
    """Make the training example of a sampled reply; its sampled tokens are in the loss mask, each with `columns`.

    Tokens of a sampler came by another distribution than the policy's, so its log-probabilities are the old ones: the
    ratio is then the importance weight pi / mu of off-policy learning (Sutton and Barto 2018, section 5.5).
    """
    positions = [index for span in call.spans if span.kind == "sampled" for index in range(span.start, span.end)]
    _check_sets(call, positions)
    start = len(call.prompt.tokens)
    known = {name: (value,) * len(positions) for name, value in columns.items()}
    drawn = tuple(call.sampler_logprobs[index] for index in positions)
    return Example(
        tokens=(*call.prompt.tokens, *call.tokens),
        loss_positions=tuple(start + index for index in positions),
        allowed=tuple(call.allowed[index] for index in positions),
        temperature=call.sampling.temperature,
        columns={"sampler_logprobs": drawn, **({OLD_LOGPROBS: drawn} if call.sampling.explores else {}), **known},
    )


def _check_sets(call: Call, positions: Sequence[int]) -> None:
    """Refuse a reply that was drawn from sets which are not recorded, or from others than those recorded."""
    if call.sampling.truncates and not (call.tokens and all(isinstance(call.allowed[i], KeptSet) for i in positions)):
        raise BadRecord(
            f"A reply of {call.policy.base} was drawn with top_k, top_p or min_p, and the sets of tokens that they "
            "kept were not recorded, so its probabilities cannot be computed again: set a smaller top_k, take another "
            "engine, or leave them out."
        )
    for index in positions:
        allowed, token = call.allowed[index], call.tokens[index]
        if allowed is not None and token not in allowed:
            raise BadRecord(
                f"A reply of {call.policy.base} has token {token} at index {index}, which is outside the set that it "
                "was drawn from: its engine, or the record, is wrong."
            )


def example_from_demonstration(prompt: Ids, reply: Ids, **row: float) -> Example:
    """Make the training example of a demonstrated reply; all its tokens are in the loss mask, also the end token."""
    positions = tuple(range(len(prompt), len(prompt) + len(reply)))
    return Example(tokens=(*prompt, *reply), loss_positions=positions, row=row)
