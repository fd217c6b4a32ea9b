"""Matchmaking by measured win rates: each rule gives every candidate a probability, and one is drawn.

Ratings are for people to read; no rule but `rating_near`, which is a baseline, uses them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from stratagem.errors import CannotCompute
from stratagem.games.key import Key
from stratagem.league.member import Member, Population
from stratagem.league.results import Floats, Results
from stratagem.league.weights import shares, weighting
from stratagem.options import within


@dataclass(frozen=True)
class Situation:
    """Input of a matchmaking rule."""

    population: Population
    results: Results
    ratings: Mapping[str, float] = field(default_factory=dict)
    """Ratings, for display and for `rating_near`."""

    def rates(self, learner: Member, others: Sequence[Member]) -> Floats:
        """Return the learner's win rate against each."""
        return self.results.rates(learner.name, [other.name for other in others])


Odds = Mapping[str, float]
"""Probability of each opponent by name."""


class Matchmaker(ABC):
    """Matchmaking rule; settings are fields of a frozen dataclass."""

    @abstractmethod
    def odds(self, learner: Member, situation: Situation) -> Odds:
        """Return the distribution over the learner's opponents."""


class Lot:
    """Distribution for many draws."""

    def __init__(self, odds: Odds) -> None:
        self._names = list(odds)
        self._ends = list(accumulate(odds.values()))

    def draw(self, key: Key) -> str:
        """Draw one name."""
        return self._names[min(bisect(self._ends, key.unit() * self._ends[-1]), len(self._names) - 1)]


def spread(others: Sequence[Member], probabilities: Floats, learner: Member) -> Odds:
    """Make a distribution; a learner without opponents meets itself."""
    return dict(zip((o.name for o in others), probabilities.tolist(), strict=True)) if others else {learner.name: 1.0}


def mixed(*parts: tuple[float, Odds]) -> Odds:
    """Mix several rules, each with its share."""
    odds: dict[str, float] = {}
    for share, part in parts:
        for name, probability in part.items():
            if share * probability:
                odds[name] = odds.get(name, 0.0) + share * probability
    return odds


def history(situation: Situation) -> list[Member]:
    """Return every member that does not change any more."""
    return situation.population.of(learns=False)


@dataclass(frozen=True, kw_only=True)
class SelfPlay(Matchmaker):
    """Self-play against the present policy."""

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return {learner.name: 1.0}


@dataclass(frozen=True, kw_only=True)
class Fixed(Matchmaker):
    """One fixed opponent."""

    opponent: str

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return {situation.population[self.opponent].name: 1.0}


@dataclass(frozen=True, kw_only=True)
class PFSP(Matchmaker):
    """Prioritised fictitious self-play over all members that do not change: the weight is a function of the win rate.

    A reserved share goes to the members that the learner beats most often, whose weight would otherwise vanish:
    bots that are easily beaten must still be exploited.
    """

    weighting: str = "squared"
    self_play: float = 0.0
    """Share of self-play matches."""
    reserved: float = 0.0
    """Share of matches against the beaten members."""
    beaten: float = 0.7
    """Win rate from which a member counts as beaten."""

    def __post_init__(self) -> None:
        weighting(self.weighting)
        for name in ("self_play", "reserved", "beaten"):
            within("PFSP", name, getattr(self, name), 0.0, 1.0)
        within("PFSP", "self_play + reserved", self.self_play + self.reserved, 0.0, 1.0)

    def odds(self, learner: Member, situation: Situation) -> Odds:
        others = history(situation)
        rates = situation.rates(learner, others)
        usual = spread(others, shares(rates, self.weighting) if others else rates, learner)
        weak = [other for other, rate in zip(others, rates, strict=True) if rate >= self.beaten]
        easy = {other.name: 1.0 / len(weak) for other in weak} or usual
        rest = 1.0 - self.self_play - self.reserved
        return mixed((self.self_play, {learner.name: 1.0}), (self.reserved, easy), (rest, usual))


@dataclass(frozen=True, kw_only=True)
class RatingNear(Matchmaker):
    """Opponents of a similar rating, by a bell curve.

    The source's own league matched by rating alone and collapsed on a few opponents: this rule is a baseline.
    """

    width: float = 100.0

    def __post_init__(self) -> None:
        within("RatingNear", "width", self.width, 1e-6)

    def odds(self, learner: Member, situation: Situation) -> Odds:
        others, own = history(situation), situation.ratings.get(learner.name)
        if own is None:
            raise CannotCompute(f"`rating_near` needs ratings, and {learner.name} has none yet.")
        far = np.array([(situation.ratings.get(other.name, own) - own) / self.width for other in others])
        if not others:
            return {learner.name: 1.0}
        weights = np.exp(0.5 * ((far**2).min() - far**2))  # the nearest has 1, so that not all of them vanish
        return spread(others, weights / weights.sum(), learner)
