"""Sequential test of whether a term of the reward has a gradient beyond its noise.

Each measurement gives r = 2 g1.g2 / (|g1|^2 + |g2|^2) in [-1, 1], the agreement of two halves of the batch. A term that
has nothing to do with what was said has mean r of at most zero. Two e-processes are kept, products of 1 + stake * r and
of 1 + stake * (SMALL - r), averaged over a few stakes (Waudby-Smith and Ramdas 2024, "Estimating means of bounded
random variables by betting"). By Ville's inequality each exceeds 1 / LEVEL with probability of at most LEVEL under its
null, **at any step**, so a run may be looked at after each measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

ENOUGH = 10
"""Constant measurements in a row after which a term that varied before is said to have vanished."""
_FEW = 3
"""Measurements from which a term is said to be constant."""
LEVEL = 0.05
"""Probability of a false "acts", and of a false "no direction", over a whole run."""
SMALL = 0.2
"""Mean agreement that a term must be below, by the test, to be called noise."""
_STAKES = (0.1, 0.3, 0.6, 0.95)
"""Stakes of the bets; small ones find a weak direction, large ones a strong one soon."""
Verdict = Literal["early", "constant", "vanished", "no direction", "acts"]


@dataclass(frozen=True)
class Signal:
    """What one batch shows of a term."""

    dot: float
    """g1 . g2."""
    noise: float
    """|g1|^2 + |g2|^2."""
    constant: bool
    """Whether all that the term gave was exactly nothing: it is shared, or cancels within every group."""

    @property
    def agreement(self) -> float:
        """2 g1.g2 / (|g1|^2 + |g2|^2): 1 where the halves are equal, -1 where they are opposite."""
        return max(-1.0, min(1.0, 2.0 * self.dot / self.noise)) if self.noise else 0.0


@dataclass(frozen=True)
class Strength:
    """A term over all measurements so far."""

    count: int
    varied: int
    """In how many of them the term was not constant."""
    mean: float
    """Of g1 . g2."""
    error: float
    """The standard error of that mean."""
    noise: float
    """The mean of |g1|^2 + |g2|^2."""
    still: int = 0
    """Constant measurements in a row up to now."""
    evidence: float = 1.0
    """Greatest e-value so far against "the mean agreement is at most zero"."""
    counter_evidence: float = 1.0
    """Greatest e-value so far against "the mean agreement is at least SMALL"."""

    @property
    def ratio(self) -> float:
        """How much of what it brings is direction: 1 where the halves agree, about 0 where there is only noise."""
        return 2.0 * self.mean / self.noise if self.noise else 0.0

    @property
    def ratio_error(self) -> float:
        """The standard error of the ratio, that of the noise left aside."""
        return 2.0 * self.error / self.noise if self.noise else math.inf

    @property
    def verdict(self) -> Verdict:
        """What is to be said of the term by now; "acts" stays, since a term that has done its work may vanish."""
        if self.evidence >= 1.0 / LEVEL:
            return "acts"
        if self.counter_evidence >= 1.0 / LEVEL:
            return "no direction"
        if not self.varied:
            return "constant" if self.count >= _FEW else "early"
        return "vanished" if self.still >= ENOUGH else "early"


@dataclass
class _Bets:
    """An e-process: the mean wealth of one gambler a stake, each of whom began with 1."""

    logs: list[float] = field(default_factory=lambda: [0.0] * len(_STAKES))
    most: float = 1.0
    """The greatest wealth so far."""

    def add(self, gain: float) -> None:
        """Stake on a gain whose mean is at most zero under the null."""
        self.logs = [log + math.log1p(stake * gain) for log, stake in zip(self.logs, _STAKES, strict=True)]
        self.most = max(self.most, math.fsum(math.exp(min(log, 700.0)) for log in self.logs) / len(self.logs))


@dataclass
class _Sums:
    count: int = 0
    varied: int = 0
    still: int = 0
    dots: float = 0.0
    squares: float = 0.0
    noises: float = 0.0
    above: _Bets = field(default_factory=_Bets)
    below: _Bets = field(default_factory=_Bets)

    def add(self, signal: Signal) -> None:
        self.count += 1
        self.dots += signal.dot
        self.squares += signal.dot**2
        self.noises += signal.noise
        self.still = self.still + 1 if signal.constant else 0
        if not signal.constant:
            self.varied += 1
            self.above.add(signal.agreement)
            self.below.add(SMALL - signal.agreement)

    def strength(self) -> Strength:
        mean, error = self.dots / self.count, math.inf
        if self.count > 1:
            error = math.sqrt(max(0.0, self.squares / self.count - mean**2) / (self.count - 1))
        noise, most = self.noises / self.count, (self.above.most, self.below.most)
        return Strength(self.count, self.varied, mean, error, noise, self.still, *most)


class Signals:
    """Adds up what batch after batch shows."""

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}

    def add(self, found: Mapping[str, Signal]) -> None:
        """Another measurement."""
        for name, signal in found.items():
            self._sums.setdefault(name, _Sums()).add(signal)

    def strengths(self) -> dict[str, Strength]:
        """What is known of every term."""
        return {name: sums.strength() for name, sums in self._sums.items()}

    def state(self) -> dict[str, Any]:
        """Plain numbers, from which `restore` goes on."""
        return {name: asdict(sums) for name, sums in self._sums.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._sums = {name: _restored(sums) for name, sums in state.items()}


def _restored(sums: Mapping[str, Any]) -> _Sums:
    bets = {name: _Bets(**sums[name]) for name in ("above", "below")}
    return _Sums(**{**sums, **bets})
