"""Who learns in a league, whom each meets, and when it is kept."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.grpo.settings import ForkSettings
from stratagem.algorithms.league.booking import MatchScore
from stratagem.algorithms.provided import LEAGUE, Provided
from stratagem.league.matchmaking import PFSP, Fixed, Matchmaker, RatingNear, SelfPlay
from stratagem.league.results import DECAY
from stratagem.league.roles import LeagueExploiter, Main, MainExploiter
from stratagem.league.weights import WEIGHTINGS
from stratagem.settings import FiniteSettings

ROLES: dict[str, type[Matchmaker]] = {
    "main": Main,
    "main_exploiter": MainExploiter,
    "league_exploiter": LeagueExploiter,
}
"""Whom each role meets, where nothing else is said."""


_READ = {
    "pfsp": ("weighting", "self_play", "reserved", "beaten"),
    "rating_near": ("width",),
    "fixed": ("opponent",),
}
"""What each rule reads beside its name."""


class MatchSettings(FiniteSettings):
    """Whom a learner meets."""

    rule: Literal["role", "self", "fixed", "pfsp", "rating_near"] = "role"
    """As its role does (AlphaStar's); itself; one member always; by how often it wins; those with ratings near it."""
    weighting: str = "squared"
    """For `pfsp`: squared, variance, linear, capped or uniform, of how often it wins."""
    self_play: float = Field(default=0.0, ge=0.0, le=1.0)
    """For `pfsp`: which share of matches is against itself."""
    reserved: float = Field(default=0.0, ge=0.0, le=1.0)
    """For `pfsp`: which share is kept for those whom it beats."""
    beaten: float = Field(default=0.7, ge=0.0, le=1.0)
    """For `pfsp`: from which rate of wins on somebody is beaten."""
    width: float = Field(default=100.0, gt=0.0)
    """For `rating_near`: how far off a rating is still near."""
    opponent: str = ""
    """For `fixed`: the member's name."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.weighting not in WEIGHTINGS:
            raise ValueError(f"there is no weighting {self.weighting!r}: weightings are {', '.join(WEIGHTINGS)}")
        if self.self_play + self.reserved > 1.0:
            raise ValueError("`self_play` and `reserved` are shares of the same matches: together at most 1")
        if self.rule == "fixed" and not self.opponent:
            raise ValueError("the rule fixed needs `opponent`, the name of a member")
        usual = type(self).model_fields
        changed = (name for name, field in usual.items() if getattr(self, name) != field.default)
        if idle := [name for name in changed if name not in ("rule", *_READ.get(self.rule, ()))]:
            reads = " and ".join(rule for rule, names in _READ.items() if idle[0] in names)
            raise ValueError(f"the rule {self.rule} does not read `{idle[0]}`, which is for {reads}: leave it out")
        return self

    def make(self, role: str) -> Matchmaker:
        """The rule itself."""
        match self.rule:
            case "self":
                return SelfPlay()
            case "fixed":
                return Fixed(opponent=self.opponent)
            case "pfsp":
                return PFSP(
                    weighting=self.weighting, self_play=self.self_play, reserved=self.reserved, beaten=self.beaten
                )
            case "rating_near":
                return RatingNear(width=self.width)
        return ROLES[role]()


class LearnerSettings(FiniteSettings):
    """One learner."""

    role: Literal["main", "main_exploiter", "league_exploiter"] = "main"
    """Whom it is to beat: everybody; the main learners; the whole league. The last two begin anew now and then."""
    match: MatchSettings = MatchSettings()
    """Whom it meets."""


class LeagueSettings(ForkSettings):
    """How the league goes on."""

    provided: ClassVar[Provided] = LEAGUE

    match_score: MatchScore = "gain"
    """Score by which two seats of a branched rollout are compared: `gain`, the payoff less the standing at the
    branching point in games that state one, or `payoff`. A group of rollouts gives one result for each opponent: the
    mean of its points."""
    results_decay: float = Field(default=DECAY, gt=0.0, le=1.0)
    """Factor by which a pair's earlier results count less with each new result; 1 keeps all."""
    keep_every: int = Field(default=10, ge=1)
    """After so many iterations every learner is kept as a member that does not change."""
    keep_latest: int = Field(default=0, ge=0)
    """Where this is not 0, a learner is kept as soon as `keep_every` iterations are over and it beats all whom its role
    is asked about in more than 70 %, and after so many anyway, as in AlphaStar, which has twice as many."""
    history: int = Field(default=0, ge=0)
    """So many of a learner's checkpoints stay, the newest; 0 keeps all."""
    loaded: int = Field(default=16, ge=1)
    """So many members' adapters are held at once; others are loaded when they are needed."""
    crossplay: int = Field(default=20, ge=1)
    """Games of every pair of the last table; each deal is played from every seat."""
    shown: int = Field(default=8, ge=2)
    """So many checkpoints of a learner are in the last table: the first, the last, and some between."""

    @model_validator(mode="after")
    def _late_enough(self) -> Self:
        if 0 < self.keep_latest < self.keep_every:
            raise ValueError("`keep_latest` cannot come before `keep_every`: take as much or more, or 0")
        return self
