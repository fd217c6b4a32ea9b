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
from stratagem.learning.learner import OLD, Report
from stratagem.learning.strength import Strength

_MISMATCH = 0.05
"""How far the sampler's and the trainer's log-probabilities may be apart on average, in nats."""
_MISREAD = 1e-3
"""How far off a text may be read beyond rounding, in nats."""
_ALIKE = 0.5
"""The share of groups without variance from which it is told."""
CREDITS, CUT = "credits", "credits_cut"
"""Under which it is counted how many credits were bounded, and how many were cut."""
CLIPPED = ("clipped_low", "clipped_high")
"""The parts of a loss that say which share of the ratios was beyond a bound."""
SEAT_LEAST, SEAT_MOST = "seat_least", "seat_most"
"""Under which it is counted in how many groups of a batch the learner had the seat that came up least, and most."""
_COLLAPSE = 0.1
"""The share of the first steps' entropy below which a policy has collapsed."""
PATIENCE = 3
"""After so many steps a ratio or a reference that never moved is told; over so many the first entropy is taken."""


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
    place: int = 0
    """How many steps were taken on the batch before."""
    signals: Mapping[str, Strength] = field(default_factory=dict)
    """What each term of the reward has brought so far."""
    gaps: Mapping[str, float] = field(default_factory=dict)
    """What was probed at this step, if anything was."""
    first_entropy: float | None = None
    """The mean over the first steps; None while those last."""
    since: int = 0
    """After how many steps the learner began anew."""
    cuts: tuple[int, int] | None = None
    """Of all credits so far, how many a bound has cut, and how many there were; None where none is bounded."""
    clipped: float | None = None
    """The greatest share of a batch's ratios so far that was beyond the bounds; None where nothing is bounded."""
    bonus: bool = False
    """Whether the loss pays for entropy."""

    @property
    def age(self) -> int:
        """How many steps it has taken since it began."""
        return self.step - self.since


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


def padding(seen: Seen) -> str:
    """A token that also fills up rows or ends replies must be read like any other where a text holds it."""
    gap = seen.gaps.get("padding", 0.0)
    if gap <= _MISREAD:
        return ""
    return (
        f"Texts that hold the tokens for filling up and for the end are read {gap:.3f} nats off when packed: padding "
        "is masked by what it is, not by where it stands."
    )


def alike(seen: Seen) -> str:
    """Groups whose rollouts were all worth the same teach nothing."""
    groups = seen.counts.get("groups", 0)
    same = seen.counts.get("groups_without_variance", 0) + seen.counts.get("groups_of_one", 0)
    if not groups or same <= _ALIKE * groups:
        return ""
    return f"{same} of {groups} groups have no variance, so their rollouts teach nothing: take more rollouts a group."


def silent_term(seen: Seen) -> str:
    """A term of the reward that is the same for all, or has nothing to do with what was said, teaches nothing."""
    constant = [name for name, strength in seen.signals.items() if strength.verdict == "constant"]
    aimless = [
        f"{name} ({s.ratio:.2f} +- {s.ratio_error:.2f} of what it brings is direction, over {s.count} steps)"
        for name, s in seen.signals.items()
        if s.verdict == "no direction"
    ]
    vanished = [
        f"{name} (varied in {s.varied} of {s.count} measurements, not in the last {s.still})"
        for name, s in seen.signals.items()
        if s.verdict == "vanished"
    ]
    said = [f"The same for all rollouts of a group: {', '.join(constant)}."] if constant else []
    said += [f"All noise and no direction: {', '.join(aimless)}."] if aimless else []
    said += [f"Constant now, and no direction was seen while it varied: {', '.join(vanished)}."] if vanished else []
    return " ".join([*said, "Such a term of the reward moves the policy nowhere."]) if said else ""


def inert_clip(seen: Seen) -> str:
    """With one step a batch the ratio is 1 everywhere, and no clip acts; nor with several where it stays in bounds."""
    if _ratio(seen) is None:
        return ""
    if seen.steps_a_batch == 1:
        return "With one step a batch the ratio is 1 everywhere, so the clip does nothing."
    if seen.age < PATIENCE or seen.clipped != 0.0:
        return ""
    return f"In {seen.age} steps no ratio went beyond the bounds that are to clip it: they do nothing yet."


def stuck_ratio(seen: Seen) -> str:
    """With several steps a batch the ratio must leave 1 after the first."""
    if seen.age < PATIENCE or not seen.place or _ratio(seen) != (1.0, 1.0):
        return ""
    return f"After {seen.place} steps on a batch its ratio is still 1: the weights do not move."


def _ratio(seen: Seen) -> tuple[float, float] | None:
    """The ends of its range, by whatever part of the loss has one."""
    for name, least in seen.report.metrics.items():
        if name.rpartition("/")[2] == "ratio_min":
            return least, seen.report.metrics[name.removesuffix("min") + "max"]
    return None


def idle_adapter(seen: Seen) -> str:
    """After a step the policy must say something else than its base; else the adapter is not at work."""
    if seen.gaps.get("adapter") != 0.0:
        return ""
    return (
        "The policy says the same with its adapter and without: the adapter is not at work, or is not what is trained."
    )


def idle_reference(seen: Seen) -> str:
    """After some steps the policy must differ from its reference; else the two are the same weights."""
    if seen.age < PATIENCE or seen.report.reference_gap != 0.0:
        return ""
    return f"After {seen.age} steps the policy says exactly what its reference says: are the two the same weights?"


def still_reference(seen: Seen) -> str:
    """A reference that follows the policy must move when the policy does."""
    if seen.age < PATIENCE or seen.report.reference_moved != 0.0:
        return ""
    return f"After {seen.age} steps the reference that is to follow the policy has stood still: is its decay 1?"


def idle_bonus(seen: Seen) -> str:
    """A bonus for entropy needs a choice: where one token alone is allowed there is none."""
    if not seen.bonus or seen.report.entropy != 0.0:
        return ""
    return "There is a bonus for entropy, and no choice in the whole batch: it does nothing."


def idle_cut(seen: Seen) -> str:
    """A bound on advantages that none of them reaches does nothing."""
    if seen.age < PATIENCE or seen.cuts is None or seen.cuts[0] or not seen.cuts[1]:
        return ""
    return f"None of {seen.cuts[1]} advantages so far was beyond the bound that is to cut them: it does nothing yet."


def uneven_seats(seen: Seen) -> str:
    """Where some seats come up more often than others in a batch, it teaches more of those."""
    least, most = seen.counts.get(SEAT_LEAST, 0), seen.counts.get(SEAT_MOST, 0)
    if least == most:
        return ""
    return (
        f"The learner had one seat in {most} groups of the batch and another in {least}: let the seat go round, in as "
        "many groups as there are seats, or a multiple."
    )


def collapse(seen: Seen) -> str:
    """A policy that has become nearly deterministic plays all rollouts alike and learns no more."""
    first, now = seen.first_entropy, seen.report.entropy
    if first is None or now is None or now >= _COLLAPSE * first:
        return ""
    return (
        f"The policy has collapsed: its mean entropy was {first:.2g} and is {now:.2g}, so its rollouts are all but "
        "alike. Lower the rate, raise the charge for leaving the reference, or add an entropy bonus."
    )


Level = Literal["fault", "note"]


@dataclass(frozen=True)
class Check:
    """One thing to look for."""

    look: Callable[[Seen], str]
    """What is wrong, in one sentence; empty where nothing is."""
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
