"""What can go wrong in training without an error: each check looks at a step and says in one sentence what it found.

By default a finding is told once and counted; a strict run stops at the first.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stratagem.errors import StratagemError
from stratagem.learning.example import Example
from stratagem.learning.learner import OLD, Report

_MISMATCH = 0.05
"""How far the sampler's and the trainer's log-probabilities may be apart on average, in nats."""
_ALIKE = 0.5
"""The share of groups without variance from which it is told."""
_PATIENCE = 3
"""After so many steps a ratio or a reference that never moved is told."""


@dataclass(frozen=True)
class Seen:
    """What a check looks at."""

    step: int
    """How many steps were taken before, in all."""
    report: Report
    examples: Sequence[Example]
    """With the columns that the step was taken with."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What the estimators of credit counted."""
    steps_a_batch: int = 1


Check = Callable[[Seen], str]
"""What is wrong, in one sentence; empty where nothing is."""


class TrainingWarning(UserWarning):
    """A check found something for the first time."""


class CheckFailed(StratagemError):
    """A strict run found something."""


def not_finite(seen: Seen) -> str:
    """A loss or a gradient that is no number teaches nothing, and spoils the optimiser's memory."""
    if math.isfinite(seen.report.loss) and math.isfinite(seen.report.norm):
        return ""
    return f"The loss is {seen.report.loss} and the gradient's norm {seen.report.norm}: the step was not taken."


def no_gradient(seen: Seen) -> str:
    """Examples without any gradient: nothing is trained, or every advantage is nothing."""
    if seen.report.norm != 0.0:
        return ""
    return f"{seen.report.num_examples} examples brought no gradient at all: is anything of the model trained?"


def mismatch(seen: Seen) -> str:
    """What the sampler stored must be what the trainer finds under the same weights, temperature and allowed sets."""
    pairs = [
        (sampled, old)
        for example in seen.examples
        for sampled, old in zip(example.columns.get("sampler_logprobs", ()), example.columns.get(OLD, ()), strict=False)
    ]
    if not pairs:
        return ""
    apart = math.fsum(abs(sampled - old) for sampled, old in pairs) / len(pairs)
    if apart <= _MISMATCH:
        return ""
    return (
        f"The sampler's log-probabilities and the trainer's are {apart:.3f} nats apart on average: other weights, "
        "another temperature or other allowed sets."
    )


def alike(seen: Seen) -> str:
    """Groups whose rollouts were all worth the same teach nothing."""
    groups = seen.counts.get("groups", 0)
    same = seen.counts.get("groups_without_variance", 0) + seen.counts.get("groups_of_one", 0)
    if not groups or same <= _ALIKE * groups:
        return ""
    return f"{same} of {groups} groups have no variance, so their rollouts teach nothing: take more rollouts a group."


def inert_clip(seen: Seen) -> str:
    """With several steps a batch the ratio must leave 1 after the first; if it never does, the clip is idle."""
    least, most = (seen.report.metrics.get(f"ratio_{end}") for end in ("min", "max"))
    if seen.steps_a_batch < 2 or seen.step < _PATIENCE or least is None or most is None:
        return ""
    return "" if least != 1.0 or most != 1.0 else "The ratio never leaves 1, so the clip does nothing."


def idle_reference(seen: Seen) -> str:
    """After some steps the policy must differ from its reference; else the adapter is not at work."""
    charge = seen.report.metrics.get("reference_kl")
    if charge is None or seen.step < _PATIENCE or charge != 0.0:
        return ""
    return f"After {seen.step} steps the policy says exactly what its reference says: is the adapter at work?"


CHECKS: dict[str, Check] = {
    "not_finite": not_finite,
    "no_gradient": no_gradient,
    "mismatch": mismatch,
    "alike": alike,
    "inert_clip": inert_clip,
    "idle_reference": idle_reference,
}
"""Checks by name."""


class Watch:
    """The checks over a run: what each found first, and how often."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.counts = dict.fromkeys(CHECKS, 0)
        self.told: dict[str, str] = {}

    def look(self, seen: Seen) -> dict[str, str]:
        """What every check finds, by name; a strict watch raises instead. What is new is warned of."""
        found = {name: sentence for name, check in CHECKS.items() if (sentence := check(seen))}
        for name, sentence in found.items():
            self.counts[name] += 1
            if self.strict:
                raise CheckFailed(f"{sentence} (check {name})")
            if name not in self.told:
                self.told[name] = sentence
                warnings.warn(f"{sentence} (check {name})", TrainingWarning, stacklevel=3)
        return found
