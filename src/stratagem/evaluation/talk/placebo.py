"""Total variation from samples, calibrated by a placebo: the same message with other dice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from stratagem.evaluation.statistics import Estimate, clustered, students
from stratagem.evaluation.talk.effect import variation

Draws = Sequence[Hashable]
"""Actions that were drawn at one history after one message."""


class Arms(NamedTuple):
    """Draws of one reader at one history, as many after each message."""

    message: Draws
    silence: Draws
    placebo: Draws
    """The message again, with other dice."""


class Effect(NamedTuple):
    """Total variation against silence, and that of the placebo."""

    effect: Estimate
    """Total variation between message and silence, less that between message and placebo; 0 for equal policies."""
    placebo: Estimate
    """Total variation between message and placebo: the bias of samples of this size."""


def sampled_effect(arms: Sequence[Arms], messages: Sequence[int] = ()) -> Effect:
    """Estimate the total variation of policies from draws at some histories, with intervals by Student's t.

    Histories are independent, or those with one number in `messages` are one observation, as readers of one message.

    The total variation of two samples is above 0 even if their policies are equal. So that of two samples after the
    same message is taken off. Where the policies differ, more is taken off than the bias there: the estimate errs on
    the low side.
    """
    against = [(_between(one.message, one.silence), _between(one.message, one.placebo)) for one in arms]
    numbers = messages or range(len(arms))
    return Effect(
        by_message(numbers, [silence - placebo for silence, placebo in against]),
        by_message(numbers, [placebo for _, placebo in against]),
    )


def by_message(numbers: Sequence[int], values: Sequence[float]) -> Estimate:
    """Estimate the mean over messages of the means over the readers of each."""
    pairs = zip(numbers, values, strict=True)
    return students(clustered(pairs, lambda pair: pair[1], lambda pair: pair[0]))


def _between(one: Draws, other: Draws) -> float:
    return variation(shares(one), shares(other))


def shares(draws: Draws) -> dict[Hashable, float]:
    """Return the share of each action among some draws."""
    return {action: count / len(draws) for action, count in Counter(draws).items()}
