"""Whether a term of the reward teaches: what batch after batch shows of its gradient, held against its noise.

The mean over steps is held against its standard error, and what is too little to tell is not told: with few rollouts
a step, even a sound term takes some tens of steps to show. A term that has done its work brings no gradient any more,
so what was found is to be read from the start of a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

ENOUGH = 10
"""From so many measurements on it is said that a term has no direction."""
_FEW = 3
"""From so many on that it is constant, or acts."""
_SURE = 2.0
"""How many standard errors make a finding."""
_LEAST = 0.2
"""What the ratio of a term must be below, beyond doubt, for the term to be called noise."""
Verdict = Literal["early", "constant", "no direction", "acts"]


@dataclass(frozen=True)
class Signal:
    """What one batch shows of a term."""

    dot: float
    """g1 . g2."""
    noise: float
    """|g1|^2 + |g2|^2."""
    constant: bool
    """Whether all that the term gave was exactly nothing: it is shared, or cancels within every group."""


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
        """What is to be said of the term by now."""
        if self.count < _FEW:
            return "early"
        if not self.varied:
            return "constant"
        if self.ratio > _SURE * self.ratio_error:
            return "acts"
        sure = self.varied >= ENOUGH and self.ratio + _SURE * self.ratio_error < _LEAST
        return "no direction" if sure else "early"


@dataclass
class _Sums:
    count: int = 0
    varied: int = 0
    dots: float = 0.0
    squares: float = 0.0
    noises: float = 0.0

    def add(self, signal: Signal) -> None:
        self.count += 1
        self.varied += not signal.constant
        self.dots += signal.dot
        self.squares += signal.dot**2
        self.noises += signal.noise

    def strength(self) -> Strength:
        mean, error = self.dots / self.count, math.inf
        if self.count > 1:
            error = math.sqrt(max(0.0, self.squares / self.count - mean**2) / (self.count - 1))
        return Strength(self.count, self.varied, mean, error, self.noises / self.count)


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
        self._sums = {name: _Sums(**sums) for name, sums in state.items()}
