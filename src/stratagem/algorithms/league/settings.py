"""Settings of a league: learners, matchmaking, and snapshots."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.grpo.settings import BranchedRolloutSettings
from stratagem.algorithms.league.booking import MatchScore
from stratagem.league.matchmaking import PFSP, Fixed, Matchmaker, RatingNear, SelfPlay
from stratagem.league.results import DECAY
from stratagem.league.roles import LeagueExploiter, Main, MainExploiter
from stratagem.league.weights import WEIGHTINGS
from stratagem.settings import FiniteSettings
from stratagem.training.provided import LEAGUE, Provided

ROLES: dict[str, type[Matchmaker]] = {
    "main": Main,
    "main_exploiter": MainExploiter,
    "league_exploiter": LeagueExploiter,
}
"""Default matchmaking rule of each role."""


_READ = {
    "pfsp": ("weighting", "self_play", "reserved", "beaten"),
    "rating_near": ("width",),
    "fixed": ("opponent",),
}
"""Settings that each rule reads."""


class MatchSettings(FiniteSettings):
    """Matchmaking rule of a learner: the probabilities of its opponents."""

    rule: Literal["role", "self", "fixed", "pfsp", "rating_near"] = "role"
    """Matchmaking rule: `role` (AlphaStar's rule of its role), `self` (self-play), `fixed` (one member), `pfsp`
    (prioritised fictitious self-play, by win rates), or `rating_near` (members with similar ratings)."""
    weighting: str = "squared"
    """For `pfsp`: weight as a function of the win rate; squared, variance, linear, capped or uniform."""
    self_play: float = Field(default=0.0, ge=0.0, le=1.0)
    """For `pfsp`: share of self-play."""
    reserved: float = Field(default=0.0, ge=0.0, le=1.0)
    """For `pfsp`: share of matches against beaten members."""
    beaten: float = Field(default=0.7, ge=0.0, le=1.0)
    """For `pfsp`: win rate from which a member counts as beaten."""
    width: float = Field(default=100.0, gt=0.0)
    """For `rating_near`: width of the kernel over rating differences."""
    opponent: str = ""
    """For `fixed`: name of the member."""

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
        """Make the matchmaking rule."""
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
    """Role (AlphaStar): a main agent plays all members; a main exploiter the main agents; a league exploiter the whole
    league. Exploiters are reset at times."""
    match: MatchSettings = MatchSettings()
    """Matchmaking."""


class LeagueSettings(BranchedRolloutSettings):
    """Training of a league's learners, and the league's members."""

    provided: ClassVar[Provided] = LEAGUE

    match_score: MatchScore = "gain"
    """Score by which two seats of a branched rollout are compared: `gain`, the payoff less the standing at the
    branching point in games that state one, or `payoff`. A group of rollouts gives one result for each opponent: the
    mean of its points."""
    results_decay: float = Field(default=DECAY, gt=0.0, le=1.0)
    """Factor by which a pair's earlier results count less with each new result; 1 keeps all."""
    snapshot_every: int = Field(default=10, ge=1)
    """Iterations after which a snapshot of every learner joins the league as a frozen member."""
    snapshot_latest: int = Field(default=0, ge=0)
    """If not 0: iterations after which a snapshot is taken in any case, while one is taken from `snapshot_every` on as
    soon as the learner wins more than 70 % against all whom its role is compared with (AlphaStar has twice as many)."""
    max_snapshots: int = Field(default=0, ge=0)
    """Number of snapshots of a learner that stay members, the newest; 0 keeps all."""
    max_loaded_adapters: int = Field(default=16, ge=1)
    """Number of members' adapters in memory at once; others are loaded when they are needed."""
    crossplay_games: int = Field(default=20, ge=1)
    """Games of every pair in the final cross-play table; each deal is played from every seat."""
    crossplay_snapshots: int = Field(default=8, ge=2)
    """Number of snapshots of a learner in the final cross-play table: the first, the last, and some between."""

    @model_validator(mode="after")
    def _late_enough(self) -> Self:
        if 0 < self.snapshot_latest < self.snapshot_every:
            raise ValueError("`snapshot_latest` cannot come before `snapshot_every`: take as much or more, or 0")
        return self
