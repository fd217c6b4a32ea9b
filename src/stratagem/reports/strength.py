"""Whether a term of the reward teaches: the training's own verdict, drawn from the metrics alone and put in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stratagem.learning.strength import Signal, Signals, Verdict

_WORDS: dict[Verdict, str] = {
    "acts": "It brings a gradient: its halves agree beyond their noise.",
    "constant": "It is constant in every group, so it brings no gradient at all.",
    "no direction": "It varies, but no gradient of it stands out from its noise.",
    "early": "Too early to say: {count} steps.",
}


@dataclass(frozen=True)
class Strength:
    """A term over the steps so far."""

    count: int
    varied: int
    """In how many of them there was any gradient at all."""
    mean: float
    """Of g1 . g2."""
    error: float
    """The standard error of that mean."""
    ratio: float
    """1 where the halves agree, about 0 where there is only noise."""
    ratio_error: float
    """The standard error of the ratio, that of its denominator left aside."""
    found: Verdict
    """What the training says of it."""

    @property
    def acts(self) -> bool:
        """Whether the mean is clearly above nothing."""
        return self.found == "acts"

    @property
    def verdict(self) -> str:
        """One sentence."""
        return _WORDS[self.found].format(count=self.count) if self.count else "Too early to say."


def strength(dots: Sequence[float], noises: Sequence[float]) -> Strength:
    """Of a term's measurements at successive steps."""
    if not dots:
        return Strength(0, 0, 0.0, math.inf, 0.0, math.inf, "early")
    signals = Signals()
    for dot, noise in zip(dots, noises, strict=True):
        signals.add({"": Signal(dot, noise, constant=noise == 0.0)})
    one = signals.strengths()[""]
    return Strength(one.count, one.varied, one.mean, one.error, one.ratio, one.ratio_error, one.verdict)
