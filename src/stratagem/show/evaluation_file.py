"""Schema of the figures of an evaluation as JSON, as every face of an evaluation reads it; unknown keys are ignored."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, InstanceOf, TypeAdapter, model_validator

from stratagem.base.renamed.metrics import present_keys
from stratagem.measure.exploitability.lower_bound import ExploiterBasis
from stratagem.measure.exploitability.methods import BOUNDS
from stratagem.measure.exploitability.replies import RepliesBasis
from stratagem.measure.exploitability.result import Exploitability, SeatGain
from stratagem.measure.exploitability.scored import UnseenBasis
from stratagem.measure.statistics import Estimate, exactly

Stored = dict[str, Any]

_STORED = TypeAdapter[Stored](Stored)
_TEXT = TypeAdapter(str)
_NUMBER = TypeAdapter[float | None](float | None)
_ESTIMATES = TypeAdapter(tuple[Estimate, ...])
_POLICY = TypeAdapter(tuple[float | None, tuple[float, ...], tuple[float, ...], float | None, str])
_UNSEEN = TypeAdapter(tuple[float, float, tuple[float, ...], float])
_LIMITS = TypeAdapter(tuple[float, float, float | None])
_REPLIES = TypeAdapter(RepliesBasis)
_EXPLOITERS = TypeAdapter(ExploiterBasis)
_EARLIER: Stored = {"legal_only": None, "num_replies": 0, "num_illegal": 0, "num_questions": 0, "is_fresh": True}
"""Fields of replies that files of earlier versions lack."""


def read_exploitability(row: Stored) -> Exploitability:
    """Return a player's exploitability by the method that could be used, or why there is none."""
    why_not = _TEXT.validate_python(_part(row, "exact").get("not_computed", ""))
    for key, read in _READERS.items():
        if (data := _part(row, key)) and (found := read(data)) is not None:
            return replace(found, tried={"exact": why_not} if why_not else {})
    return Exploitability(method="exact", why_not=why_not)


def read_exact(value: Any) -> Exploitability:
    """Return the exact exploitability that a file has as a bare number; without an estimate where it is null."""
    number = _NUMBER.validate_python(value)
    return Exploitability(method="exact", estimate=None if number is None else exactly(number))


def _part(row: Stored, key: str) -> Stored:
    return _STORED.validate_python(row.get(key) or {})


def with_numbers(data: Any) -> Any:
    """Read the mean of an estimate that is null as no number."""
    if isinstance(data, list):
        return [with_numbers(one) for one in data]
    if not isinstance(data, dict):
        return data
    return {key: math.nan if key == "mean" and one is None else with_numbers(one) for key, one in data.items()}


def _exact(data: Stored) -> Exploitability | None:
    names = {"exploitability": None, "values": (), "best_responses": (), "worst_advantage": None, "unit": ""}
    stored = tuple(data.get(name, missing) for name, missing in names.items())
    value, own, best, worst, unit = _POLICY.validate_python(stored)
    if value is None:
        return None
    return Exploitability(
        method="exact",
        unit=unit,
        estimate=exactly(value),
        by_seat=tuple(SeatGain(exactly(at), to, exactly(to - at)) for at, to in zip(own, best, strict=False)),
        num_seats=len(own),
        worst_advantage=worst,
    )


def _scored_figure(data: Stored) -> Exploitability | None:
    centre = _exact(_part(data, "centre"))
    if centre is None:
        return None
    names = ("exploitability_low", "exploitability_high", "errors", "unseen")
    low, high, errors, unseen = _UNSEEN.validate_python(tuple(map(data.get, names)))
    return replace(
        centre,
        method="scored",
        estimate=Estimate(centre.exploitability, low=low, high=high),
        by_seat=tuple(
            replace(seat, gain=Estimate(gain, low=max(0.0, gain - error), high=gain + error))
            for seat, gain, error in zip(centre.by_seat, centre.gains, errors, strict=False)
        ),
        worst_advantage=None,
        basis=UnseenBasis(errors, high - centre.exploitability, unseen, centre.worst_advantage),
    )


def _replies(data: Stored) -> Exploitability:
    basis = _REPLIES.validate_python(_EARLIER | data)
    low, high, point = _LIMITS.validate_python(tuple(map(data.get, ("lower", "upper", "point"))))
    return Exploitability(
        method="replies",
        unit=_TEXT.validate_python(data.get("unit", "")),
        estimate=Estimate(math.nan if point is None else point, n=basis.num_replies, low=low, high=high),
        basis=basis,
    )


def _bound(data: Stored) -> Exploitability:
    data = with_numbers({"budget_unit": "", "model": "", "deals": 0, "values": (), **data})
    basis, values = _EXPLOITERS.validate_python(data), _ESTIMATES.validate_python(data["values"])
    if not basis.curve:
        raise ValueError("A lower bound needs the gain of an exploiter.")
    last = basis.curve[-1]
    own: tuple[Estimate | None, ...] = values or (None,) * len(last.by_seat)
    return Exploitability(
        method=basis.method if basis.method in BOUNDS else "player",
        unit=_TEXT.validate_python(data.get("unit", "")),
        estimate=last.mean,
        by_seat=tuple(
            SeatGain(at, math.nan if at is None else at.mean + gain.mean, gain)
            for at, gain in zip(own, last.by_seat, strict=False)
        ),
        num_seats=len(last.by_seat),
        basis=basis,
    )


_READERS: Mapping[str, Callable[[Stored], Exploitability | None]] = {
    "exact": _exact,
    UnseenBasis.json_key: _scored_figure,
    RepliesBasis.json_key: _replies,
    ExploiterBasis.json_key: _bound,
}
"""Reader by the key of a row; earlier files may have several keys, of which the first counts."""


SCHEMA: ConfigDict = ConfigDict(frozen=True, extra="ignore")
"""Configuration of all schemas: immutable; unknown keys are ignored."""


class Schema(BaseModel):
    """Base of the schemas of an evaluation."""

    model_config = SCHEMA


StoredEstimate = Annotated[Estimate, BeforeValidator(with_numbers)]
"""Estimate in a file."""
StoredExploitability = Annotated[InstanceOf[Exploitability], BeforeValidator(read_exact)]
"""Exact exploitability in a file, as a bare number."""


class UnscaledFigures(Schema):
    """Figures in the game's own unit."""

    payoff: StoredEstimate | None = None
    pool_advantage: StoredEstimate | None = None


class OpponentFigures(Schema):
    """A player's figures against one opponent."""

    opponent: str
    episodes: int = 0
    pools: tuple[str, ...] = ()
    payoff: StoredEstimate | None = None
    advantage: StoredEstimate | None = None
    unscaled_payoff: StoredEstimate | None = None
    unscaled_advantage: StoredEstimate | None = None
    win_rate: StoredEstimate | None = None


class SeatFiguresSchema(Schema):
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
    payoff: StoredEstimate | None = None
    gap: StoredEstimate | None = None
    replies: ReplyFigures | None = None
    illegal: StoredEstimate | None = None


class PlayerFigures(Schema):
    """One player's figures in one game."""

    player: str
    metrics: dict[str, StoredEstimate | None] = {}
    nulls: dict[str, float | None] = {}
    """Figure under the null hypothesis by metric."""
    by_seat: tuple[SeatFiguresSchema, ...] = ()
    unscaled: UnscaledFigures = UnscaledFigures()
    replies: ReplyFigures | None = None
    in_other_words: tuple[OtherWordsFigures, ...] = ()
    opponents: list[OpponentFigures] = []

    exploitability: InstanceOf[Exploitability]
    """Exploitability by the method that could be used."""

    @model_validator(mode="before")
    @classmethod
    def _with_exploitability(cls, data: Any) -> Any:
        """Read the figures that stand under a key for each method."""
        return {**data, "exploitability": read_exploitability(data)} if isinstance(data, dict) else data


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
    """File of `stratagem eval`; metrics may have their former names."""

    suite: str = ""
    seed: int | None = None
    episodes_asked_per_opponent: int | None = None
    family: FamilyFigures = FamilyFigures()
    games: list[GameTable] = []

    @model_validator(mode="before")
    @classmethod
    def _with_present_keys(cls, data: Any) -> Any:
        return present_keys(data)
