"""Checks for silent failures of training: each reads one optimizer step and describes its finding in one sentence.

A fault is warned of once and counted, and stops a strict run. A note describes an effect of the settings that is easily
overlooked. It is reported once and never stops a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.learner import StepReport
from stratagem.learn.signal_to_noise import SignalToNoise

_MISMATCH_TOLERANCE = 0.05
"""Tolerance of the mean difference between the sampler's and the trainer's log-probabilities, in nats.

An engine in bf16 is .033 from the same model in fp32 (docs/results/performance.md), which is no fault.
"""
_PADDING_TOLERANCE = 1e-3
"""Tolerance of the padding probe beyond rounding, in nats."""
_MAX_CONSTANT_GROUPS = 0.5
"""Largest accepted share of groups without variance."""
ADVANTAGES, ADVANTAGES_CLIPPED = "advantages", "advantages_clipped"
"""Counts of the bounded advantages, and of those that the bound clipped."""
CLIP_FRACTIONS = ("clip_fraction_low", "clip_fraction_high")
"""Loss metrics of the fraction of ratios beyond a bound."""
SEAT_LEAST, SEAT_MOST = "seat_least", "seat_most"
"""Names of two counts: groups of a batch in which the learner had its rarest seat, and its most frequent seat."""
_MIN_ENTROPY_RATIO = 0.1
"""Share of the initial entropy below which a policy has collapsed."""
PATIENCE = 3
"""Number of steps before a constant ratio or reference is reported, and over which the initial entropy is taken."""


@dataclass(frozen=True)
class StepContext:
    """Input of the checks: one optimizer step and its surroundings."""

    step: int
    """Number of optimizer steps before this one."""
    report: StepReport
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
    """Detect a loss or a gradient that is not finite: the optimizer skips the step."""
    if math.isfinite(context.report.loss) and math.isfinite(context.report.grad_norm):
        return ""
    return (
        f"The loss is {context.report.loss} and the gradient's norm {context.report.grad_norm}: the step was not taken."
    )


def no_gradient(context: StepContext) -> str:
    """Detect a zero gradient: every advantage is 0, or no weight is trained."""
    if context.report.grad_norm != 0.0:
        return ""
    advantages = [value for example in context.examples for value in example.columns.get("advantage", ())]
    number = context.report.num_examples
    if advantages and not any(advantages):
        return f"All advantages of {number} examples are 0, so the step changes nothing: no reward differed in a group."
    known = " though their advantages are not 0" if advantages else ""
    return f"{number} examples have a zero gradient{known}: are any weights of the model trained?"


def mismatch(context: StepContext) -> str:
    """Detect a difference between the sampler's and the trainer's log-probabilities of the same tokens."""
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
    if apart <= _MISMATCH_TOLERANCE:
        return ""
    return (
        f"The sampler's log-probabilities and the trainer's are {apart:.3f} nats apart on average: other weights, "
        "another temperature or other allowed sets."
    )


def padding(context: StepContext) -> str:
    """Detect an attention mask that hides padding or stop tokens inside a text."""
    gap = context.probes.get("padding", 0.0)
    if gap <= _PADDING_TOLERANCE:
        return ""
    return (
        f"Texts that hold the tokens for filling up and for the end are read {gap:.3f} nats off when packed: padding "
        "is masked by what it is, not by where it stands."
    )


def alike(context: StepContext) -> str:
    """Detect a batch most of whose groups have no reward variance: such groups train nothing."""
    groups = context.counts.get("groups", 0)
    same = context.counts.get("groups_without_variance", 0) + context.counts.get("groups_of_one", 0)
    if not groups or same <= _MAX_CONSTANT_GROUPS * groups:
        return ""
    return f"{same} of {groups} groups have no reward variance, so they have no gradient: raise `group_size`."


def silent_term(context: StepContext) -> str:
    """Detect a reward term without a gradient signal: constant in every group, or pure noise."""
    constant = [name for name, one in context.signal_to_noise.items() if one.verdict == "constant"]
    noise = [
        f"{name} (signal-to-noise ratio {s.ratio:.2f} +- {s.ratio_error:.2f} over {s.count} steps)"
        for name, s in context.signal_to_noise.items()
        if s.verdict == "no direction"
    ]
    vanished = [
        f"{name} (varied in {s.varied} of {s.count} measurements, not in the last {s.still})"
        for name, s in context.signal_to_noise.items()
        if s.verdict == "vanished"
    ]
    sentences = [f"The same for all rollouts of a group: {', '.join(constant)}."] if constant else []
    sentences += [f"Noise without a signal: {', '.join(noise)}."] if noise else []
    sentences += [f"Constant now, and no signal was found while it varied: {', '.join(vanished)}."] if vanished else []
    return " ".join([*sentences, "Such a reward term does not train the policy."]) if sentences else ""


def inert_clip(context: StepContext) -> str:
    """Detect a ratio clip without effect: one step a batch (the ratio is 1), or ratios that stay in the clip range."""
    if (ratio := _ratio(context)) is None:
        return ""
    if context.steps_per_batch == 1 and ratio == (1.0, 1.0):  # it is not with an older policy's tokens or a sampler's
        return "With one step a batch the ratio is 1 everywhere, so the clip has no effect."
    if context.age < PATIENCE or context.clip_fraction != 0.0:
        return ""
    return f"In {context.age} steps no ratio left the clip range: the clip has no effect yet."


def stuck_ratio(context: StepContext) -> str:
    """Detect a ratio that stays 1 after the first of several steps on a batch: the weights do not move."""
    if context.age < PATIENCE or not context.batch_step or _ratio(context) != (1.0, 1.0):
        return ""
    return f"After {context.batch_step} steps on a batch its ratio is still 1: the weights do not move."


def _ratio(context: StepContext) -> tuple[float, float] | None:
    """Return the range of the ratio, from the first part of the loss that has one."""
    for name, low in context.report.metrics.items():
        if name.rpartition("/")[2] == "ratio_min":
            return low, context.report.metrics[name.removesuffix("min") + "max"]
    return None


def idle_adapter(context: StepContext) -> str:
    """Detect an adapter without effect: after a step the policy still equals its base model."""
    if context.probes.get("adapter") != 0.0:
        return ""
    return "The policy has the same outputs with and without its adapter: the adapter is not active, or is not trained."


def idle_reference(context: StepContext) -> str:
    """Detect a reference that shares its weights with the policy: the two stay equal."""
    if context.age < PATIENCE or context.report.reference_gap != 0.0:
        return ""
    return f"After {context.age} steps the policy and its reference have equal outputs: are they the same weights?"


def still_reference(context: StepContext) -> str:
    """Detect a moving-average reference that does not move."""
    if context.age < PATIENCE or context.report.reference_moved != 0.0:
        return ""
    return f"After {context.age} steps the moving-average reference has not moved: is `ema_decay` 1?"


def idle_bonus(context: StepContext) -> str:
    """Detect an entropy bonus without effect: every token of the batch had one allowed value."""
    if not context.entropy_bonus or context.report.entropy != 0.0:
        return ""
    return "The loss has an entropy bonus, but no token of the batch had more than one allowed value: it has no effect."


def idle_cut(context: StepContext) -> str:
    """Detect an advantage clip that no advantage reaches."""
    if context.age < PATIENCE or context.clipped_advantages is None:
        return ""
    clipped, number = context.clipped_advantages
    if clipped or not number:
        return ""
    return f"None of {number} advantages so far was beyond `advantage_clip`: the clip has no effect yet."


def uneven_seats(context: StepContext) -> str:
    """Detect a batch that trains some seats more often than others."""
    least, most = context.counts.get(SEAT_LEAST, 0), context.counts.get(SEAT_MOST, 0)
    if least == most:
        return ""
    return (
        f"The learner had one seat in {most} groups of the batch and another in {least}: make `groups_per_batch` a "
        "multiple of the number of seats."
    )


def double_negative(context: StepContext) -> str:
    """Detect a product of two negative numbers: a bad order of a turn that went badly is reinforced."""
    rows, reinforced = context.counts.get("rows", 0), context.counts.get("double_negative", 0)
    if not reinforced:
        return ""
    return (
        f"In {reinforced} of {rows} rows the advantage and the order's weight are both negative, so their product "
        "reinforces the order: use `add` or `magnitude` as `combine`, or weights of at least 0."
    )


def collapse(context: StepContext) -> str:
    """Detect entropy collapse: a nearly deterministic policy has equal rollouts and no gradient signal."""
    first, now = context.initial_entropy, context.report.entropy
    if first is None or now is None or now >= _MIN_ENTROPY_RATIO * first:
        return ""
    return (
        f"The policy has collapsed: its mean entropy was {first:.2g} and is {now:.2g}, so its rollouts are nearly "
        "equal. Lower `learning_rate`, raise `kl_coef`, or add an entropy bonus."
    )


Level = Literal["fault", "note"]


@dataclass(frozen=True)
class TrainingCheck:
    """Test for one fault of training."""

    find: Callable[[StepContext], str]
    """Function from a step to the sentence of a finding; empty without one."""
    level: Level = "fault"
    warns: bool = True
    """False for an effect of default settings, which stands in the findings and in the report only."""


CHECKS: dict[str, TrainingCheck] = {
    "not_finite": TrainingCheck(not_finite),
    "no_gradient": TrainingCheck(no_gradient),
    "mismatch": TrainingCheck(mismatch),
    "padding": TrainingCheck(padding),
    "alike": TrainingCheck(alike),
    "silent_term": TrainingCheck(silent_term),
    "inert_clip": TrainingCheck(inert_clip, "note", warns=False),
    "stuck_ratio": TrainingCheck(stuck_ratio),
    "idle_adapter": TrainingCheck(idle_adapter),
    "idle_reference": TrainingCheck(idle_reference),
    "still_reference": TrainingCheck(still_reference),
    "idle_bonus": TrainingCheck(idle_bonus, "note"),
    "idle_cut": TrainingCheck(idle_cut, "note"),
    "uneven_seats": TrainingCheck(uneven_seats, "note"),
    "double_negative": TrainingCheck(double_negative, "note"),
    "collapse": TrainingCheck(collapse),
}
"""Checks by name."""
