"""Sequential test of whether a term of the reward has a gradient beyond its noise.

Each measurement gives r = 2 g1.g2 / (|g1|^2 + |g2|^2) in [-1, 1], the agreement of two halves of the batch. For a term
that is independent of the sampled replies, r has a mean of at most zero. Two e-processes are products of 1 + stake * r
and of 1 + stake * (SMALL - r), averaged over a few stakes (Waudby-Smith and Ramdas 2024, "Estimating means of bounded
random variables by betting"). By Ville's inequality each exceeds 1 / LEVEL with probability of at most LEVEL under its
null, **at any step**, so a run may be looked at after each measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

ENOUGH = 10
"""Constant measurements in a row after which a term that varied before counts as vanished."""
_FEW = 3
"""Number of measurements after which a term counts as constant."""
LEVEL = 0.05
"""Probability of a false "acts", and of a false "no direction", over a whole run."""
SMALL = 0.2
"""Mean agreement that a term must be below, by the test, to be called noise.

Pure noise is found after 24 to 29 measurements (standard deviations of r from .05 to .3); with .1 it takes 46 to 64.
"""
_STAKES = (0.1, 0.3, 0.6, 0.95)
"""Stakes of the bets; small ones find a weak direction, large ones a strong one soon.

Each is below 1, so that a gain of -1 leaves some of the wealth, and later gains count.
"""
Verdict = Literal["early", "constant", "vanished", "no direction", "acts"]


@dataclass(frozen=True)
class GradientSignal:
    """Gradient of one reward term on one batch, from two halves of the batch."""

    dot: float
    """g1 . g2."""
    noise: float
    """|g1|^2 + |g2|^2."""
    constant: bool
    """True where the term is exactly zero for every token: it is shared, or cancels within every group."""

    @property
    def agreement(self) -> float:
        """2 g1.g2 / (|g1|^2 + |g2|^2): 1 where the halves are equal, -1 where they are opposite."""
        return max(-1.0, min(1.0, 2.0 * self.dot / self.noise)) if self.noise else 0.0


@dataclass(frozen=True)
class SignalToNoise:
    """Gradient signal-to-noise ratio of one reward term, over all measurements so far."""

    count: int
    varied: int
    """Number of measurements in which the term was not constant."""
    mean: float
    """Mean of g1 . g2, the signal."""
    error: float
    """Standard error of that mean."""
    noise: float
    """Mean of |g1|^2 + |g2|^2, the noise."""
    still: int = 0
    """Constant measurements in a row up to now."""
    evidence: float = 1.0
    """Greatest e-value so far against "the mean agreement is at most zero"."""
    counter_evidence: float = 1.0
    """Greatest e-value so far against "the mean agreement is at least SMALL"."""

    @property
    def ratio(self) -> float:
        """Signal-to-noise ratio 2 g1.g2 / (|g1|^2 + |g2|^2): 1 where the halves agree, about 0 for pure noise."""
        return 2.0 * self.mean / self.noise if self.noise else 0.0

    @property
    def ratio_error(self) -> float:
        """Standard error of the ratio, with the noise taken as known."""
        return 2.0 * self.error / self.noise if self.noise else math.inf

    @property
    def verdict(self) -> Verdict:
        """Result of the test so far; "acts" is final, since the gradient of a satisfied term may vanish."""
        if self.evidence >= 1.0 / LEVEL:
            return "acts"
        if self.counter_evidence >= 1.0 / LEVEL:
            return "no direction"
        if not self.varied:
            return "constant" if self.count >= _FEW else "early"
        return "vanished" if self.still >= ENOUGH else "early"


@dataclass
class _Bets:
    """E-process: the mean wealth of one bettor for each stake, with initial wealth 1."""

    logs: list[float] = field(default_factory=lambda: [0.0] * len(_STAKES))
    most: float = 1.0
    """Greatest wealth so far."""

    def add(self, gain: float) -> None:
        """Bet on a gain whose mean is at most zero under the null hypothesis."""
        self.logs = [log + math.log1p(stake * gain) for log, stake in zip(self.logs, _STAKES, strict=True)]
        # wealth beyond e^700 is cut, since e^710 is no float; a verdict takes 20
        self.most = max(self.most, math.fsum(math.exp(min(log, 700.0)) for log in self.logs) / len(self.logs))


@dataclass
class _GradientSums:
    count: int = 0
    varied: int = 0
    still: int = 0
    dots: float = 0.0
    squares: float = 0.0
    noises: float = 0.0
    above: _Bets = field(default_factory=_Bets)
    below: _Bets = field(default_factory=_Bets)

    def add(self, signal: GradientSignal) -> None:
        self.count += 1
        self.dots += signal.dot
        self.squares += signal.dot**2
        self.noises += signal.noise
        self.still = self.still + 1 if signal.constant else 0
        if not signal.constant:
            self.varied += 1
            self.above.add(signal.agreement)
            self.below.add(SMALL - signal.agreement)

    def estimate(self) -> SignalToNoise:
        mean, error = self.dots / self.count, math.inf
        if self.count > 1:
            error = math.sqrt(max(0.0, self.squares / self.count - mean**2) / (self.count - 1))
        noise, most = self.noises / self.count, (self.above.most, self.below.most)
        return SignalToNoise(self.count, self.varied, mean, error, noise, self.still, *most)


class SignalToNoiseTracker:
    """Running gradient signal-to-noise ratio of every reward term."""

    def __init__(self) -> None:
        self._sums: dict[str, _GradientSums] = {}

    def add(self, signals: Mapping[str, GradientSignal]) -> None:
        """Add one measurement."""
        for name, signal in signals.items():
            self._sums.setdefault(name, _GradientSums()).add(signal)

    def estimates(self) -> dict[str, SignalToNoise]:
        """Estimate of every term so far."""
        return {name: sums.estimate() for name, sums in self._sums.items()}

    def state(self) -> dict[str, Any]:
        """Return plain numbers for a checkpoint."""
        return {name: asdict(sums) for name, sums in self._sums.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._sums = {name: _restore_sums(sums) for name, sums in state.items()}


def _restore_sums(sums: Mapping[str, Any]) -> _GradientSums:
    bets = {name: _Bets(**sums[name]) for name in ("above", "below")}
    return _GradientSums(**{**sums, **bets})
