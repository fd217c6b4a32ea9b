"""The files of a run that a report reads, as far as it reads them: further entries are left alone."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class _Read(BaseModel):
    """What is read and never written."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)


class Figure(_Read):
    """An estimate as an evaluation writes it."""

    mean: float | None
    se: float | None = None
    n: int = 0
    low: float | None = None
    high: float | None = None
    exact: bool = False


class Worst(_Read):
    """What the best responder does to a player, in the game's own unit."""

    exploitability: float | None = None
    worst_advantage: float | None = None
    not_computed: str = ""
    """Why there are no figures."""


class Unscaled(_Read):
    """Figures in the game's own unit."""

    pay: Figure | None = None
    pool_advantage: Figure | None = None


class Against(_Read):
    """A player's figures against one opponent."""

    opponent: str
    episodes: int = 0
    unscaled_pay: Figure | None = None
    unscaled_advantage: Figure | None = None
    win_rate: Figure | None = None


class Row(_Read):
    """One player's figures in one game."""

    player: str
    metrics: dict[str, Figure | None] = {}
    nulls: dict[str, float] = {}
    """By metric, the figure under the null hypothesis."""
    unscaled: Unscaled = Unscaled()
    exact: Worst = Worst()
    opponents: list[Against] = []


class GameTable(_Read):
    """All players' figures in one game."""

    game: str
    unit: str = "points"
    scale: float | None = None
    """What turns the game's unit into the common scale."""
    players: list[Row] = []
    warnings: list[str] = []


class Evaluation(_Read):
    """What `stratagem eval` writes."""

    seed: int | None = None
    episodes_asked_per_opponent: int | None = None
    games: list[GameTable] = []


class Tournament(_Read):
    """What `stratagem tournament` writes."""

    game: str
    unit: str = "points"
    seed: int | None = None
    episodes_per_pair: int | None = None
    players: list[str]
    pay: list[list[Figure]]
    mean_against_others: list[Figure]
    warnings: list[str] = []


class EvaluationFile(_Read):
    """`evaluation.json`: which player was which stage of the run, and the evaluation."""

    rows: dict[str, str]
    evaluation: Evaluation


class Finding(_Read):
    """What a check found first, and how often."""

    count: int = 1
    first: str = ""
    level: str = "fault"


class Policy(_Read):
    """What the policy did in every information set at a step."""

    step: int
    game: str
    policy: dict[str, dict[str, float]]


class Models(_Read):
    """Which models a run holds, by label; labels that are numbers are steps."""

    models: dict[str, dict[str, Any]] = {}
    titles: dict[str, str] = {}
    """Names of models in tables, by label."""


class Shown(_Read):
    """A member of the last table."""

    name: str
    role: str = ""
    parent: str = ""
    step: int = 0

    @property
    def is_base(self) -> bool:
        """Whether it is what the learners begin with: after a warm start, what that made of the model."""
        return self.role == "base"


class Rated(_Read):
    """A rating with its interval."""

    name: str
    elo: float
    low: float
    high: float
    games: float = 0.0


class Skilled(_Read):
    """A skill as openskill tells it."""

    name: str
    mu: float
    sigma: float


class Open(_Read):
    """How open a checkpoint is, exactly, and the average of all up to it."""

    step: int
    own: float | None
    average: float | None


class LeagueTable(_Read):
    """`league.json`: cross-play, and what follows from it."""

    game: str
    members: list[Shown]
    aside: dict[str, str] = {}
    seats: int = 2
    zero_sum: bool = True
    """Whether what one gets another loses, so that who meets itself gets nothing on average."""
    deals: int = 0
    pay: list[list[float]]
    errors: list[list[float | None]] = []
    elo: list[Rated] = []
    skill: list[Skilled] = []
    nash: list[float] = []
    nash_exploitability: float | None = None
    """Of whoever draws a member by those shares for a whole game."""
    alpha_rank: list[float] = []
    cycles: list[list[str]] = []
    forgotten: list[list[str]] = []
    exploitability: list[float | None] = []
    over_time: dict[str, list[Open]] = {}
    """By main learner."""
    alliance: list[float | None] = []
    """Of each member's copies at one table against an outsider."""
    alliance_errors: list[float | None] = []
