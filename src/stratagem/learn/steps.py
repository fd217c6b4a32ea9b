"""Several optimizer steps on the parts of one batch, all with the log-probabilities before the first step.

Those of the first part come from its own forward pass, as in a single step. Those of the other parts would need a
forward pass more. It is spared where the sampler's log-probabilities are the trainer's, which the first part shows
before any weight has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.learner import Learner, StepReport
from stratagem.learn.losses.sharing import DIVISOR

SAMPLER_LOGPROBS = "sampler_logprobs"
"""Column of the log-probabilities under which the tokens were drawn."""
TOLERANCE = 1e-5
"""Largest difference, in nats, at which log-probabilities of the sampler and of the trainer count as the same."""


def take_steps(learner: Learner, examples: Sequence[Example], number: int) -> list[StepReport | None]:
    """Take a step on each of `number` parts of a batch; None for a part without examples."""
    first, *others = _split(examples, number)
    if learner.drops or OLD_LOGPROBS not in learner.loss.columns or OLD_LOGPROBS in examples[0].columns:
        first, *others = _split(learner.with_old_logprobs(examples), number)
        return [learner.update(part) if part else None for part in (first, *others)]
    known = list[Sequence[Example]]()

    def before_first(trained: Sequence[Example]) -> None:
        rest = [example for part in others for example in part]
        same = _agree(trained)
        with_old = [_as_sampled(example) for example in rest] if same or not rest else learner.with_old_logprobs(rest)
        ends = list(accumulate(map(len, others), initial=0))
        known.extend(with_old[start:end] for start, end in pairwise(ends))

    report = learner.update(first, before_step=before_first)
    return [report, *(learner.update(part) if part else None for part in known)]


def _split(examples: Sequence[Example], number: int) -> list[Sequence[Example]]:
    """Deal examples to parts in turn, each with its share of the divisor, as the other normalizations have theirs."""
    parts = [examples[part::number] for part in range(number)]
    return [[_with_share(one, len(part) / len(examples)) for one in part] for part in parts]


def _with_share(example: Example, share: float) -> Example:
    return example.with_row(**{DIVISOR: example.row[DIVISOR] * share}) if DIVISOR in example.row else example


def _agree(examples: Sequence[Example]) -> bool:
    """Test whether the trainer's log-probabilities of some examples are the sampler's."""
    return all(
        SAMPLER_LOGPROBS in example.columns
        and all(
            abs(sampled - old) <= TOLERANCE
            for sampled, old in zip(example.columns[SAMPLER_LOGPROBS], example.columns[OLD_LOGPROBS], strict=True)
        )
        for example in examples
    )


def _as_sampled(example: Example) -> Example:
    return example.with_columns(**{OLD_LOGPROBS: example.columns[SAMPLER_LOGPROBS]})
