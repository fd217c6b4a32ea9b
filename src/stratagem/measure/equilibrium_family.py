"""A family of equilibria with one free number, in which every probability is linear: the yardstick of a policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

Probabilities = Mapping[str, Mapping[str, float]]
"""Of actions by information set."""


@dataclass(frozen=True)
class FamilyInformationSet:
    """An information set, with the probability of an action there in every member of the family."""

    key: str
    """Information key."""
    group: str
    """Situation without private information, such as "First to act"."""
    label: str
    """Private information, such as a card."""
    verb: str
    """Action in words, such as "bets"."""
    actions: tuple[str, ...]
    """Names of the action."""
    low: float
    """Probability at the lowest member of the family."""
    high: float
    """Probability at the highest member."""

    @property
    def situation(self) -> str:
        """The information set in words."""
        return f"{self.label}, {self.group[0].lower()}{self.group[1:]}"

    def probability_in(self, policy: Probabilities) -> float | None:
        """Return the probability of the action in a policy; None where the policy lacks the information set."""
        mix = policy.get(self.key)
        return None if mix is None else math.fsum(mix.get(action, 0.0) for action in self.actions)


@dataclass(frozen=True)
class EquilibriumFamily:
    """All equilibria of a game, from 0 to `most` of their free number."""

    number: str
    """Name of the free number."""
    most: float
    places: tuple[FamilyInformationSet, ...]

    def at(self, place: FamilyInformationSet, number: float) -> float:
        """Return the probability in the member with this number."""
        return place.low + (place.high - place.low) * number / self.most

    def nearest(self, policy: Probabilities) -> float:
        """Return the number of the member that is nearest, by least squares over the information sets."""
        pairs = [(place, played) for place in self.places if (played := place.probability_in(policy)) is not None]
        slopes = [(place.high - place.low) / self.most for place, _ in pairs]
        along = math.fsum(slope * (played - place.low) for slope, (place, played) in zip(slopes, pairs, strict=True))
        length = math.fsum(slope**2 for slope in slopes)
        return min(max(along / length, 0.0), self.most) if length else 0.0

    def distance(self, policy: Probabilities) -> float:
        """Return the mean distance, over the information sets, from the nearest member."""
        number = self.nearest(policy)
        pairs = [(place, played) for place in self.places if (played := place.probability_in(policy)) is not None]
        apart = [abs(played - self.at(place, number)) for place, played in pairs]
        return math.fsum(apart) / len(apart) if apart else math.nan
