"""Schemas of a run's files as a report reads them; unknown keys are ignored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, model_validator

from stratagem.base.renamed.metrics import present_keys, present_table
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.figures.catalogue import figures_of
from stratagem.show.evaluation_file import SCHEMA, EvaluationFigures, StoredEstimate, StoredExploitability
from stratagem.show.table import Numbers, ResultTable, Value, text_table

_MEANING = "Payoff a round of the row against the column."


class _Schema(BaseModel):
    """Base of the schemas of a run."""

    model_config = SCHEMA


class TournamentSchema(_Schema):
    """File of `stratagem tournament`."""

    game: str
    unit: str = "points"
    seed: int | None = None
    episodes_per_pair: int | None = None
    players: list[str]
    payoff: list[list[StoredEstimate]]
    mean_against_others: list[StoredEstimate]
    warnings: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _with_present_keys(cls, data: Any) -> Any:
        return present_keys(data)

    def ranking(self) -> list[int]:
        """Return the indices of the players, the best mean first."""
        return sorted(range(len(self.players)), key=lambda row: -self.mean_against_others[row].mean)

    def table(self, title: str) -> ResultTable:
        """Return everybody against everybody, the best mean first."""
        order = self.ranking()
        numbers = (Numbers(str(rank), 2) for rank in range(1, len(order) + 1))
        rows: list[tuple[Value, ...]] = [
            (str(rank), self.players[row], self.mean_against_others[row], *(self.payoff[row][at] for at in order))
            for rank, row in enumerate(order, 1)
        ]
        table = text_table(title, ("", "player", *figures_of("mean_against_others"), *numbers), rows)
        return replace(table, notes=(_MEANING,), warnings=tuple(self.warnings), matrix=True)


class Requests(_Schema):
    """Number of requests to a model, and how many had no reply, were refused or filtered."""

    requests: int
    failed: int
    refused: int
    filtered: int


class EvaluationFile(_Schema):
    """File `evaluation.json`: the player of each stage of the run, and the evaluation."""

    rows: dict[str, str]
    evaluation: EvaluationFigures
    requests: dict[str, Requests] = {}
    """Requests by model; empty in files of earlier versions."""


class FindingSchema(_Schema):
    """First finding of a check, and the number of findings."""

    count: int = 1
    first: str = ""
    level: str = "fault"
    step: int | None = None
    """Step of the first finding."""


class PolicySchema(_Schema):
    """Policy in every information set at a step."""

    step: int
    game: str
    policy: dict[str, dict[str, float]]


class Models(_Schema):
    """Models of a run by label; labels that are numbers are steps."""

    models: dict[str, dict[str, Any]] = {}
    titles: dict[str, str] = {}
    """Names of models in tables, by label."""


class LeagueMember(_Schema):
    """Member in the final evaluation of a league."""

    name: str
    role: str = ""
    parent: str = ""
    step: int = 0

    @property
    def is_base(self) -> bool:
        """True for the initial policy of the learners: the model, or the result of SFT."""
        return self.role == "base"


class EloRating(_Schema):
    """Elo rating with its interval."""

    name: str
    elo: float
    low: float
    high: float
    games: float = 0.0


class SkillRating(_Schema):
    """Rating of openskill: mean and standard deviation of a skill."""

    name: str
    mu: float
    sigma: float


class CheckpointMeasures(_Schema):
    """Exact exploitability of a checkpoint, and of the average policy of all checkpoints up to it."""

    step: int
    own: StoredExploitability
    average: StoredExploitability


class LeagueTable(_Schema):
    """File `league.json`: cross-play, and the figures that follow from it."""

    game: str
    members: list[LeagueMember]
    aside: dict[str, str] = {}
    seats: int = 2
    zero_sum: bool = True
    """True for a zero-sum game, in which the payoff of a member against itself is 0 on average."""
    deals: int = 0
    payoff: list[list[float]]
    errors: list[list[float | None]] = []
    elo: list[EloRating] = []
    skill: list[SkillRating] = []
    nash: list[float] = []
    nash_exploitability: StoredExploitability = Exploitability(method="exact")
    """Exploitability of the Nash mixture, one draw a game."""
    alpha_rank: list[float] = []
    cycles: list[list[str]] = []
    forgotten: list[list[str]] = []
    exploitability: list[StoredExploitability] = []
    over_time: dict[str, list[CheckpointMeasures]] = {}
    """Exploitability over time by main agent."""
    outsiders: list[StoredEstimate] = []
    """Payoff of an outsider among copies of each member; empty with two seats, and in files of earlier versions."""
    alliance: list[float | None] = []
    """Alliance index of each member's copies at one table against an outsider."""
    alliance_errors: list[float | None] = []

    @model_validator(mode="before")
    @classmethod
    def _with_present_keys(cls, data: Any) -> Any:
        """Rename the keys of the table itself: those of its parts may be names of learners."""
        return present_table(data) if isinstance(data, dict) else data
