"""Recipe for a league: one game, learners with roles, initial members, and a frozen pool for evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from stratagem.algorithms.league.roles import NamedLeagueMatch, read_league_match
from stratagem.base.renamed.metrics import MetricName
from stratagem.games.drawn.distribution import is_stream
from stratagem.language.models.reference import parse_model
from stratagem.training.branched_rollouts import BranchedRolloutSettings
from stratagem.training.learner_models import (
    LearnerBase,
    LearnerModelSettings,
    LearnerOptions,
    check_learner_name,
    lay_over_optimizer,
)
from stratagem.training.opponents.booking import MatchScore
from stratagem.training.opponents.results import DECAY
from stratagem.training.provided import LEAGUE, CollectedInputs
from stratagem.training.recipe import OpponentsRecipe


class LearnerSettings(LearnerOptions):
    """One learner."""

    role: Literal["main", "main_exploiter", "league_exploiter"] = "main"
    """Role (AlphaStar): a main agent plays all members; a main exploiter the main agents; a league exploiter the whole
    league. Exploiters are reset at times."""
    matchmaker: NamedLeagueMatch = read_league_match("role")
    """Matchmaker, by name with its parameters. `role` is AlphaStar's rule of the role; the others are those of all
    algorithms, such as `pfsp`, which draws by win rates."""


class LeagueSettings(BranchedRolloutSettings):
    """Training of a league's learners, and the league's members."""

    provided: ClassVar[CollectedInputs] = LEAGUE

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


BASE = "base"
"""Name of the base as a member."""


class LeagueRecipe(OpponentsRecipe):
    """SFT, then learners that play each other, their snapshots, and other players."""

    title: ClassVar[str] = "League"
    learners_table: ClassVar[str] = "learners"
    stage_name: ClassVar[str] = "league"

    algorithm: Literal["league"] = "league"
    """Name of the algorithm."""
    checkpoint_metric: MetricName = "payoff"
    """Validation metric by which the best checkpoint is chosen; of the first learner, the highest or, for exact
    `exploitability` where there is an `exact_budget`, the lowest."""
    opponents: tuple[str, ...] = Field(default=("random",), min_length=1)
    """Opponents of validation and of the final evaluation; a frozen pool, on the same deals each time."""
    learners: dict[str, LearnerSettings] = Field(default={"main": LearnerSettings()}, min_length=1)
    """Learners by name; the first is validated and evaluated."""
    members: dict[str, str] = Field(default={})
    """Further members by name, from the start: players, as `stratagem players` names them."""
    with_base: bool = True
    """Membership of the base; of each, where learners have several."""
    league: LeagueSettings = LeagueSettings()
    """Settings of the iterations and of the population."""

    @property
    def stage(self) -> LeagueSettings:
        return self.league

    @model_validator(mode="before")
    @classmethod
    def _over_optimizer(cls, data: Any) -> Any:
        return lay_over_optimizer(data, cls.learners_table, cls.stage_name, cls.model_fields["league"].default)

    @property
    def learners_by_name(self) -> Mapping[str, LearnerModelSettings]:
        return self.learners

    @property
    def base_members(self) -> dict[str, LearnerBase]:
        """Each base by the name of its member: `base` is that of the first learner, others have a learner's name."""
        members: dict[LearnerBase, str] = {}
        for name, base in self.bases_by_learner.items():
            members.setdefault(base, f"{BASE}_{name}" if members else BASE)
        return {name: base for base, name in members.items()}

    @property
    def first(self) -> str:
        """Learner that is validated and evaluated."""
        return next(iter(self.learners))

    @property
    def rated(self) -> list[str]:
        """Learners with a matchmaking rule by ratings."""
        return [name for name, one in self.learners.items() if one.matchmaker.value.reads_ratings]

    @model_validator(mode="after")
    def _start(self) -> Self:
        if self.sft_steps and any(parse_model(model).four_bit for model in self.bases):
            raise ValueError("members of a league begin as the base, which in 4 bits has no SFT: leave `sft` out")
        return self

    @model_validator(mode="after")
    def _end(self) -> Self:
        if self.stop is not None:
            raise ValueError("a league ends with its last iteration, when its last members are added: leave `stop` out")
        return self

    @model_validator(mode="after")
    def _one_game(self) -> Self:
        if len(self.games) != 1:
            raise ValueError("a league plays one game: name one in `games`")
        if is_stream(self.games[0]):
            raise ValueError(f"a league plays one game, and `games` has {self.games[0]}: name a drawn game")
        if self.held_out_games:
            raise ValueError(
                "a league is validated and evaluated in its game: leave `validation_games` and `test_games` out, and "
                "evaluate the run by `stratagem eval` or `stratagem audit`"
            )
        return self

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.overlap:
            raise ValueError("learners of a league meet each other's present weights, so `overlap` must be 0")
        if self.train != "adapter":
            raise ValueError('members of a league are adapters: leave `train` at "adapter"')
        for name in (*self.learners, *self.members):
            check_learner_name(name, "member")
        bases = self.base_members
        if twice := sorted({*bases, *self.learners} & {*self.members}) or [n for n in self.learners if n in bases]:
            raise ValueError(f"two members would be called {twice[0]}: give each a name of its own")
        known = {*self.members, *self.learners} | ({*bases} if self.with_base else set())
        for learner in self.learners.values():
            if unknown := [name for name in learner.matchmaker.value.named_members if name not in known]:
                raise ValueError(f"nobody is called {unknown[0]!r}: members are {', '.join(sorted(known))}")
            if learner.matchmaker.type == "shares":
                raise ValueError("`shares` is for the `opponents` of other algorithms: take `curriculum`, or `pfsp`")
        if any(one.role == "main_exploiter" for one in self.learners.values()) and not any(
            one.role == "main" for one in self.learners.values()
        ):
            raise ValueError("a main exploiter needs a learner of the role main to exploit")
        return self
