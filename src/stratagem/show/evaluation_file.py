"""Schema of the figures of an evaluation as JSON, as every face of an evaluation reads it; unknown keys are ignored."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from stratagem.evaluation.statistics import Estimate
from stratagem.show.table import AtLeast, Limits, Value

SCHEMA = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)
"""Configuration of all schemas: immutable; unknown keys are ignored."""


class Schema(BaseModel):
    """Base of the schemas of an evaluation."""

    model_config = SCHEMA


def _with_number(data: Any) -> Any:
    """Read a mean that is null as no number."""
    return {**data, "mean": math.nan} if isinstance(data, dict) and data.get("mean", 0.0) is None else data


StoredEstimate = Annotated[Estimate, BeforeValidator(_with_number)]
"""Estimate in a file."""


class ExactFigures(Schema):
    """Values of the best responder against a player, in the game's own unit."""

    exploitability: float | None = None
    nash_conv: float | None = None
    worst_advantage: float | None = None
    values: tuple[float, ...] = ()
    """Value of the player at each seat against itself."""
    best_responses: tuple[float, ...] = ()
    """Value of a best response at each seat."""
    not_computed: str = ""
    """Reason why there are no figures."""

    @property
    def gains(self) -> tuple[float, ...]:
        """Gain of a best response at each seat."""
        return tuple(best - own for best, own in zip(self.best_responses, self.values, strict=False))


class ScoredFigures(Schema):
    """Exploitability with bounds, where a server tells probabilities of replies."""

    centre: ExactFigures
    exploitability_low: float
    exploitability_high: float
    errors: tuple[float, ...]
    """Largest error of the gain at each seat."""
    unseen: float
    """Largest unseen probability of a situation."""

    @property
    def gains(self) -> tuple[Value, ...]:
        """Gain of a best response at each seat, with its bounds."""
        pairs = zip(self.centre.gains, self.errors, strict=False)
        return tuple(Estimate(gain, low=max(0.0, gain - error), high=gain + error) for gain, error in pairs)


class RepliesFigures(Schema):
    """Exploitability from replies, with its limits."""

    lower: float
    upper: float
    point: float | None = None
    legal_only: float | None = None
    num_replies: int = 0
    num_illegal: int = 0
    num_questions: int = 0
    is_fresh: bool = True


class BudgetFigures(Schema):
    """Gain of an exploiter under one budget."""

    budget: int = 0
    mean: StoredEstimate
    by_seat: tuple[StoredEstimate, ...] = ()


class BoundFigures(Schema):
    """Lower bound on exploitability by an exploiter."""

    method: str
    budget_unit: str = ""
    model: str = ""
    deals: int = 0
    values: tuple[StoredEstimate, ...] = ()
    curve: tuple[BudgetFigures, ...]


class UnscaledFigures(Schema):
    """Figures in the game's own unit."""

    pay: StoredEstimate | None = None
    pool_advantage: StoredEstimate | None = None


class OpponentFigures(Schema):
    """A player's figures against one opponent."""

    opponent: str
    episodes: int = 0
    pools: tuple[str, ...] = ()
    pay: StoredEstimate | None = None
    advantage: StoredEstimate | None = None
    unscaled_pay: StoredEstimate | None = None
    unscaled_advantage: StoredEstimate | None = None
    win_rate: StoredEstimate | None = None


class SeatFigures(Schema):
    """A player's figures at one seat against one opponent."""

    opponent: str
    seat: str
    episodes: int = 0
    metrics: dict[str, StoredEstimate | None] = {}


class CostFigures(Schema):
    """Tokens of a decision."""

    prompt_tokens: float = math.nan
    reply_tokens: float = math.nan


class ReplyFigures(Schema):
    """Replies of a language model by kind and by end, and their cost."""

    num_decisions: int = 0
    shares: dict[str, StoredEstimate] = {}
    ends: dict[str, StoredEstimate] = {}
    per_decision: CostFigures = CostFigures()


class OtherWordsFigures(Schema):
    """A player under one disguise."""

    player: str
    proof: str = ""
    pay: StoredEstimate | None = None
    gap: StoredEstimate | None = None
    replies: ReplyFigures | None = None
    illegal: StoredEstimate | None = None


class PlayerFigures(Schema):
    """One player's figures in one game."""

    player: str
    metrics: dict[str, StoredEstimate | None] = {}
    nulls: dict[str, float | None] = {}
    """Figure under the null hypothesis by metric."""
    by_seat: tuple[SeatFigures, ...] = ()
    unscaled: UnscaledFigures = UnscaledFigures()
    exact: ExactFigures = ExactFigures()
    scored: ScoredFigures | None = None
    from_replies: RepliesFigures | None = None
    lower_bound: BoundFigures | None = None
    replies: ReplyFigures | None = None
    in_other_words: tuple[OtherWordsFigures, ...] = ()
    opponents: list[OpponentFigures] = []

    @property
    def exploitability(self) -> Value:
        """Exploitability by the method that could be used: exact, with bounds, with limits, or a lower bound."""
        if self.exact.exploitability is not None:
            return self.exact.exploitability
        if self.scored is not None:
            low, high = self.scored.exploitability_low, self.scored.exploitability_high
            return Estimate(self.scored.centre.exploitability or 0.0, low=low, high=high)
        if self.from_replies is not None:
            at = self.from_replies
            return Limits(at.lower, at.upper) if at.point is None else Estimate(at.point, low=at.lower, high=at.upper)
        return None if self.lower_bound is None else AtLeast(self.lower_bound.curve[-1].mean)

    @property
    def values(self) -> tuple[Value, ...]:
        """Value of the player at each seat against itself."""
        if self.scored is not None:
            return self.scored.centre.values
        return self.exact.values or (self.lower_bound.values if self.lower_bound else ())

    @property
    def gains(self) -> tuple[Value, ...]:
        """Gain of a best response at each seat."""
        if self.scored is not None:
            return self.scored.gains
        return self.exact.gains or tuple(map(AtLeast, self.lower_bound.curve[-1].by_seat if self.lower_bound else ()))


class DifferenceFigures(Schema):
    """Payoff of a further player less the first's, on the same deals."""

    estimate: StoredEstimate
    p_value: float = math.nan
    detectable: float | None = None
    holm_p: float | None = None


class GameTable(Schema):
    """All players' figures in one game."""

    game: str
    unit: str = "points"
    scale: float | None = None
    """Factor from the game's unit to the common scale."""
    players: list[PlayerFigures] = []
    differences_on_played_deals: dict[str, DifferenceFigures] = {}
    warnings: list[str] = []


class FamilyFigures(Schema):
    """Comparisons that are corrected together."""

    name: str = ""
    comparisons: tuple[str, ...] = ()


class EvaluationFigures(Schema):
    """File of `stratagem eval`."""

    suite: str = ""
    seed: int | None = None
    episodes_asked_per_opponent: int | None = None
    family: FamilyFigures = FamilyFigures()
    games: list[GameTable] = []
