"""Matchmaking: a rule gives every candidate a probability, and one is drawn.

A rule is a pure function of the situation: the iteration, the members, and their measured win rates. So a resumed run
draws the same opponents. Ratings are for people to read; no rule but `rating_near`, which is a baseline, uses them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

import numpy as np

from stratagem.base.errors import BadParameter, CannotCompute, UnknownName
from stratagem.base.options import within
from stratagem.games.key import Key
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.results import Floats, Results

Weighting = Callable[[Floats], Floats]
"""Function from the win probability against each to a weight for each."""

WEIGHTINGS: Mapping[str, Weighting] = {
    "squared": lambda x: (1.0 - x) ** 2,
    "variance": lambda x: x * (1.0 - x),
    "linear": lambda x: 1.0 - x,
    "capped": lambda x: np.minimum(0.5, 1.0 - x),
    "uniform": np.ones_like,
}
"""Weightings by name.

squared: mostly stronger opponents; variance: opponents of equal strength; linear; capped: equal weights for all
opponents that are not beaten; uniform: equal weights for everybody.
"""


def weighting(name: str) -> Weighting:
    """Find the weighting of that name."""
    if name not in WEIGHTINGS:
        raise UnknownName("weighting of opponents", name, WEIGHTINGS)
    return WEIGHTINGS[name]


def shares(rates: Floats, name: str) -> Floats:
    """Normalise weights to probabilities; uniform where nobody has any weight."""
    weights = weighting(name)(rates)
    total = weights.sum()
    return weights / total if total > 0.0 else np.full(len(rates), 1.0 / len(rates))


def effective_number(probabilities: Floats) -> float:
    """Return the effective number of opponents.

    1 over the sum of squares, which is n for n alike and 1 for one alone.
    """
    return float(1.0 / np.square(probabilities).sum())


@dataclass(frozen=True)
class Situation:
    """Input of a matchmaker."""

    population: Population
    """Members: the learner, players by name, and snapshots of learners."""
    results: Results
    """Win rates; empty where the matchmaker reads none."""
    ratings: Mapping[str, float] = field(default_factory=dict)
    """Ratings, for display and for `rating_near`."""
    iteration: int = 0
    """Number of finished iterations."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Shares of the opponents that a recipe names."""

    def rates(self, learner: Member, others: Sequence[Member]) -> Floats:
        """Return the learner's win rate against each."""
        return self.results.rates(learner.name, [other.name for other in others])


Odds = Mapping[str, float]
"""Probability of each opponent by name."""


class Matchmaker(ABC):
    """Rule that chooses opponents; its parameters are fields of a frozen dataclass."""

    reads_results: ClassVar[bool] = True
    """True if it reads win rates, which are measured for it alone."""
    reads_ratings: ClassVar[bool] = False
    """True if it reads Elo ratings, which only a league has."""
    reads_snapshots: ClassVar[bool] = False
    """True if it is for snapshots of the learner."""

    @property
    def named_members(self) -> Sequence[str]:
        """Members that its parameters name."""
        return ()

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


def mix_odds(*parts: tuple[float, Odds]) -> Odds:
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

    reads_results = False

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return {learner.name: 1.0}


@dataclass(frozen=True, kw_only=True)
class FixedOpponent(Matchmaker):
    """One fixed opponent."""

    opponent: str
    """Name of the member."""

    reads_results = False

    @property
    def named_members(self) -> Sequence[str]:
        return (self.opponent,)

    def odds(self, learner: Member, situation: Situation) -> Odds:
        return {situation.population[self.opponent].name: 1.0}


@dataclass(frozen=True, kw_only=True)
class PFSP(Matchmaker):
    """Prioritised fictitious self-play over all members that do not change: the weight is a function of the win rate.

    A reserved share goes to the members that the learner beats most often, whose weight would otherwise vanish:
    bots that are easily beaten must still be exploited.
    """

    weighting: str = "squared"
    """Weight as a function of the win rate; squared, variance, linear, capped or uniform."""
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
        if self.self_play + self.reserved > 1.0:
            raise BadParameter("`self_play` and `reserved` are shares of the same matches: together at most 1.")

    def odds(self, learner: Member, situation: Situation) -> Odds:
        others = history(situation)
        rates = situation.rates(learner, others)
        usual = spread(others, shares(rates, self.weighting) if others else rates, learner)
        weak = [other for other, rate in zip(others, rates, strict=True) if rate >= self.beaten]
        easy = {other.name: 1.0 / len(weak) for other in weak} or usual
        rest = 1.0 - self.self_play - self.reserved
        return mix_odds((self.self_play, {learner.name: 1.0}), (self.reserved, easy), (rest, usual))


@dataclass(frozen=True, kw_only=True)
class RatingNear(Matchmaker):
    """Opponents of a similar rating, by a bell curve.

    The source's own league matched by rating alone and collapsed on a few opponents: this rule is a baseline.
    """

    width: float = 100.0
    """Width of the kernel over rating differences."""

    reads_ratings = True

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
