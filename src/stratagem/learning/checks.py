"""What can go wrong in training without an error: each check looks at a step and says in one sentence what it found.

A fault is warned of once and counted, and stops a strict run. A note says what is so by design and is easily
overlooked: it is told once and never stops a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stratagem.learning.example import Example
from stratagem.learning.learner import OLD_LOGPROBS, Report
from stratagem.learning.signal_to_noise import SignalToNoise

_MISMATCH = 0.05
"""How far the sampler's and the trainer's log-probabilities may be apart on average, in nats."""
_MISREAD = 1e-3
"""How far off a text may be read beyond rounding, in nats."""
_ALIKE = 0.5
"""The share of groups without variance from which it is told."""
ADVANTAGES, ADVANTAGES_CLIPPED = "advantages", "advantages_clipped"
"""Counts of the bounded advantages, and of those that the bound clipped."""
CLIP_FRACTIONS = ("clip_fraction_low", "clip_fraction_high")
"""Loss metrics of the fraction of ratios beyond a bound."""
SEAT_LEAST, SEAT_MOST = "seat_least", "seat_most"
"""Under which it is counted in how many groups of a batch the learner had the seat that came up least, and most."""
_COLLAPSE = 0.1
"""The share of the first steps' entropy below which a policy has collapsed."""
PATIENCE = 3
"""After so many steps a ratio or a reference that never moved is told; over so many the first entropy is taken."""


@dataclass(frozen=True)
class StepContext:
    """One optimizer step, as the checks see it."""

    step: int
    """Number of optimizer steps before this one."""
    report: Report
    examples: Sequence[Example]
    """Examples of the step, with the columns that the loss read."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of the advantage estimators."""
    steps_per_batch: int = 1
    batch_step: int = 0
    """Index of this step among those on its batch."""
    signal_to_noise: Mapping[str, SignalToNoise] = field(default_factory=dict)
    """Gradient signal-to-noise ratio of each reward term, over all measurements so far."""
    probes: Mapping[str, float] = field(default_factory=dict)
    """Results of the probes at this step; empty at most steps."""
    initial_entropy: float | None = None
    """Mean entropy over the first steps; None during those."""
    reset_step: int = 0
    """Number of steps before the learner's last reset."""
    clipped_advantages: tuple[int, int] | None = None
    """Numbers of clipped and of all advantages so far; None where none is bounded."""
    clip_fraction: float | None = None
    """Largest clip fraction of a step so far; None where no ratio is clipped."""
    entropy_bonus: bool = False
    """True where the loss has an entropy bonus."""

    @property
    def age(self) -> int:
        """Number of steps since the last reset."""
        return self.step - self.reset_step


def not_finite(context: StepContext) -> str:
    """A loss or a gradient that is no number teaches nothing, and spoils the optimizer's memory."""
    if math.isfinite(context.report.loss) and math.isfinite(context.report.grad_norm):
        return ""
    return (
        f"The loss is {context.report.loss} and the gradient's norm {context.report.grad_norm}: the step was not taken."
    )


def no_gradient(context: StepContext) -> str:
    """Examples without any gradient: nothing is trained, or every advantage is nothing."""
    if context.report.grad_norm != 0.0:
        return ""
    return f"{context.report.num_examples} examples brought no gradient at all: is anything of the model trained?"


def mismatch(context: StepContext) -> str:
    """What the sampler stored must be what the trainer finds under the same weights, temperature and allowed sets."""
    pairs = [
        (sampled, old)
        for example in context.examples
        for sampled, old in zip(
            example.columns.get("sampler_logprobs", ()), example.columns.get(OLD_LOGPROBS, ()), strict=False
        )
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


def padding(context: StepContext) -> str:
    """A token that also fills up rows or ends replies must be read like any other where a text holds it."""
    gap = context.probes.get("padding", 0.0)
    if gap <= _MISREAD:
        return ""
    return (
        f"Texts that hold the tokens for filling up and for the end are read {gap:.3f} nats off when packed: padding "
        "is masked by what it is, not by where it stands."
    )


def alike(context: StepContext) -> str:
    """Groups whose rollouts were all worth the same teach nothing."""
    groups = context.counts.get("groups", 0)
    same = context.counts.get("groups_without_variance", 0) + context.counts.get("groups_of_one", 0)
    if not groups or same <= _ALIKE * groups:
        return ""
    return f"{same} of {groups} groups have no variance, so their rollouts teach nothing: take more rollouts a group."


def silent_term(context: StepContext) -> str:
    """A term of the reward that is the same for all, or has nothing to do with what was said, teaches nothing."""
    constant = [name for name, one in context.signal_to_noise.items() if one.verdict == "constant"]
    aimless = [
        f"{name} ({s.ratio:.2f} +- {s.ratio_error:.2f} of what it brings is direction, over {s.count} steps)"
        for name, s in context.signal_to_noise.items()
        if s.verdict == "no direction"
    ]
    vanished = [
        f"{name} (varied in {s.varied} of {s.count} measurements, not in the last {s.still})"
        for name, s in context.signal_to_noise.items()
        if s.verdict == "vanished"
    ]
    said = [f"The same for all rollouts of a group: {', '.join(constant)}."] if constant else []
    said += [f"All noise and no direction: {', '.join(aimless)}."] if aimless else []
    said += [f"Constant now, and no direction was seen while it varied: {', '.join(vanished)}."] if vanished else []
    return " ".join([*said, "Such a term of the reward moves the policy nowhere."]) if said else ""


def inert_clip(context: StepContext) -> str:
    """With one step a batch the ratio is 1 everywhere, and no clip acts; nor with several where it stays in bounds."""
    if _ratio(context) is None:
        return ""
    if context.steps_per_batch == 1:
        return "With one step a batch the ratio is 1 everywhere, so the clip does nothing."
    if context.age < PATIENCE or context.clip_fraction != 0.0:
        return ""
    return f"In {context.age} steps no ratio went beyond the bounds that are to clip it: they do nothing yet."


def stuck_ratio(context: StepContext) -> str:
    """With several steps a batch the ratio must leave 1 after the first."""
    if context.age < PATIENCE or not context.batch_step or _ratio(context) != (1.0, 1.0):
        return ""
    return f"After {context.batch_step} steps on a batch its ratio is still 1: the weights do not move."


def _ratio(context: StepContext) -> tuple[float, float] | None:
    """The ends of its range, by whatever part of the loss has one."""
    for name, least in context.report.metrics.items():
        if name.rpartition("/")[2] == "ratio_min":
            return least, context.report.metrics[name.removesuffix("min") + "max"]
    return None


def idle_adapter(context: StepContext) -> str:
    """After a step the policy must say something else than its base; else the adapter is not at work."""
    if context.probes.get("adapter") != 0.0:
        return ""
    return (
        "The policy says the same with its adapter and without: the adapter is not at work, or is not what is trained."
    )


def idle_reference(context: StepContext) -> str:
    """After some steps the policy must differ from its reference; else the two are the same weights."""
    if context.age < PATIENCE or context.report.reference_gap != 0.0:
        return ""
    return f"After {context.age} steps the policy says exactly what its reference says: are the two the same weights?"


def still_reference(context: StepContext) -> str:
    """A reference that follows the policy must move when the policy does."""
    if context.age < PATIENCE or context.report.reference_moved != 0.0:
        return ""
    return f"After {context.age} steps the reference that is to follow the policy has stood still: is its decay 1?"


def idle_bonus(context: StepContext) -> str:
    """A bonus for entropy needs a choice: where one token alone is allowed there is none."""
    if not context.entropy_bonus or context.report.entropy != 0.0:
        return ""
    return "There is a bonus for entropy, and no choice in the whole batch: it does nothing."


def idle_cut(context: StepContext) -> str:
    """A bound on advantages that none of them reaches does nothing."""
    if context.age < PATIENCE or context.clipped_advantages is None:
        return ""
    clipped, number = context.clipped_advantages
    if clipped or not number:
        return ""
    return f"None of {number} advantages so far was beyond the bound that is to cut them: it does nothing yet."


def uneven_seats(context: StepContext) -> str:
    """Where some seats come up more often than others in a batch, it teaches more of those."""
    least, most = context.counts.get(SEAT_LEAST, 0), context.counts.get(SEAT_MOST, 0)
    if least == most:
        return ""
    return (
        f"The learner had one seat in {most} groups of the batch and another in {least}: let the seat go round, in as "
        "many groups as there are seats, or a multiple."
    )


def collapse(context: StepContext) -> str:
    """A policy that has become nearly deterministic plays all rollouts alike and learns no more."""
    first, now = context.initial_entropy, context.report.entropy
    if first is None or now is None or now >= _COLLAPSE * first:
        return ""
    return (
        f"The policy has collapsed: its mean entropy was {first:.2g} and is {now:.2g}, so its rollouts are all but "
        "alike. Lower the rate, raise the charge for leaving the reference, or add an entropy bonus."
    )


Level = Literal["fault", "note"]


@dataclass(frozen=True)
class Check:
    """Test for one fault of training."""

    find: Callable[[StepContext], str]
    """Sentence that says what is wrong; empty where nothing is."""
    level: Level = "fault"


CHECKS: dict[str, Check] = {
    "not_finite": Check(not_finite),
    "no_gradient": Check(no_gradient),
    "mismatch": Check(mismatch),
    "padding": Check(padding),
    "alike": Check(alike),
    "silent_term": Check(silent_term),
    "inert_clip": Check(inert_clip, "note"),
    "stuck_ratio": Check(stuck_ratio),
    "idle_adapter": Check(idle_adapter),
    "idle_reference": Check(idle_reference),
    "still_reference": Check(still_reference),
    "idle_bonus": Check(idle_bonus, "note"),
    "idle_cut": Check(idle_cut, "note"),
    "uneven_seats": Check(uneven_seats, "note"),
    "collapse": Check(collapse),
}
"""Checks by name."""
