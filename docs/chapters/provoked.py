"""For each check of a training a step that it finds something in."""

from __future__ import annotations

from typing import Any

from stratagem.learn.checks import StepContext
from stratagem.learn.example import OLD_LOGPROBS, Example
from stratagem.learn.learner import StepReport
from stratagem.learn.signal_to_noise import SignalToNoise


def _seen(step: int = 20, *, examples: tuple[Example, ...] = (), **known: Any) -> StepContext:
    """A step of a report with some figures of its own."""
    plain = {
        "loss": 0.1,
        "grad_norm": 0.5,
        "learning_rate": 1e-5,
        "num_examples": 64,
        "num_tokens": 64,
        "num_read": 2000,
    }
    own = {name: known.pop(name) for name in tuple(known) if name in StepReport.__dataclass_fields__}
    return StepContext(step=step, report=StepReport(**{**plain, **own}), examples=examples, **known)


_APART = Example(tokens=(1, 2), loss_positions=(1,), columns={"sampler_logprobs": (-0.2,), OLD_LOGPROBS: (-0.9,)})
_NOISE = SignalToNoise(count=40, varied=40, mean=0.01, error=0.02, noise=2.0)
_SHARED = SignalToNoise(count=40, varied=0, mean=0.0, error=0.0, noise=0.0)
_ONE = {"ratio_min": 1.0, "ratio_max": 1.0}

PROVOKED: dict[str, StepContext] = {
    "not_finite": _seen(loss=float("nan"), grad_norm=float("inf")),
    "no_gradient": _seen(grad_norm=0.0),
    "mismatch": _seen(examples=(_APART,)),
    "padding": _seen(probes={"padding": 0.25}),
    "alike": _seen(counts={"groups": 16, "groups_without_variance": 11, "groups_of_one": 1}),
    "silent_term": _seen(signal_to_noise={"collusion": _SHARED, "exploit": _NOISE}),
    "inert_clip": _seen(metrics=_ONE),
    "stuck_ratio": _seen(step=21, steps_per_batch=4, batch_step=1, metrics=_ONE),
    "idle_adapter": _seen(probes={"adapter": 0.0}),
    "idle_reference": _seen(reference_gap=0.0),
    "still_reference": _seen(reference_moved=0.0),
    "idle_bonus": _seen(entropy=0.0, entropy_bonus=True),
    "idle_cut": _seen(clipped_advantages=(0, 1280)),
    "uneven_seats": _seen(counts={"seat_least": 1, "seat_most": 5}),
    "double_negative": _seen(counts={"rows": 640, "double_negative": 96}),
    "collapse": _seen(entropy=0.004, initial_entropy=0.31),
}
"""By the check's name."""
