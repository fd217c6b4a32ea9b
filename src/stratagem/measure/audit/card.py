"""Card of an agent: the figures of an audit, the strategies that exploit it, the conditions, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small
from stratagem.games.base import Json
from stratagem.measure.audit.condition import Condition, Outcome, read_condition
from stratagem.measure.audit.measurement import Measurement, read_measurement
from stratagem.measure.audit.probes.base import StrategyLine
from stratagem.measure.exploiters.written import ListExploiter, read_exploiter
from stratagem.measure.resumable import read_plan

FILE = "card.json"
VERSION = 3
READ = (1, 2, VERSION)
"""Versions that are read: cards of version 1 have no notes and no figures of checks, and those of 2 no probes."""
_MOST_FAILED = 0.5
"""Share of calls without a reply beyond which an agent counts as one that does not answer."""


@dataclass(frozen=True)
class AuditCost:
    """Calls of models behind an audit, with their tokens and the time of the engines."""

    decisions: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0
    """Seconds of the engines, waiting for servers among them."""
    money: float | None = None
    currency: str = ""
    failed: int = 0
    """Number of calls without a reply."""
    failure: str = ""
    """Reason of the last of them."""
    unsaid: Mapping[str, int] = field(default_factory=dict)
    """Number of illegal replies whose text was not all of the model's answer, by the end of the call."""


@dataclass(frozen=True)
class Card:
    """Result of an audit."""

    agent: str
    games: tuple[str, ...]
    decisions: int
    """Number of decisions that were planned."""
    seed: int
    figures: tuple[Measurement, ...]
    not_measured: Mapping[str, str]
    """Reason by game and probe."""
    strategies: Mapping[str, Sequence[StrategyLine]]
    """Exploiting moves by game."""
    cost: AuditCost
    made_by: Mapping[str, Any]
    baseline: str = ""
    """Agent that it is compared with; empty where it is compared with none."""
    notes: tuple[str, ...] = ()
    """Sentences on what the figures take for granted."""
    probes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Decisions by game and probe, of those that applied; empty in cards of earlier versions."""
    exploiters: Mapping[str, ListExploiter] = field(default_factory=dict)
    """Lists of rules that exploit the agent, by game; empty where none were asked for."""
    draws: Mapping[str, Any] = field(default_factory=dict)
    """Origin of the seed of drawn games, and the figures of each game; empty where there are none."""
    requests: Mapping[str, Any] = field(default_factory=dict)
    """Number of requests by model, and how many had no reply, were refused or filtered, with their shares."""

    @property
    def by_name(self) -> dict[str, Measurement]:
        """Figures by name."""
        return {figure.name: figure for figure in self.figures}

    @property
    def alarms(self) -> list[Measurement]:
        """Figures whose null hypothesis is rejected."""
        return [figure for figure in self.figures if figure.alarm]

    @property
    def unanswered(self) -> bool:
        """True if the agent gave no reply to most calls: the figures are mostly those of default actions."""
        return self.cost.failed > _MOST_FAILED * self.cost.calls

    def outcomes(self, conditions: Sequence[Condition]) -> dict[str, Outcome]:
        """Return the outcome of each condition by its text; of an agent that gave no replies none can be excluded."""
        found = {condition.text: condition.outcome(self.by_name) for condition in conditions}
        return {text: "inconclusive" if self.unanswered and one != "holds" else one for text, one in found.items()}

    def why_inconclusive(self, condition: str) -> str:
        """Return the reason why the condition of this text is inconclusive, as a sentence."""
        read = read_condition(condition)
        if read.outcome(self.by_name) != "inconclusive":
            return f"The agent gave no reply to {self.cost.failed} of {self.cost.calls} questions."
        return read.why_inconclusive(self.by_name)

    def to_json(self) -> Json:
        """Return the card by name."""
        return {
            "card": VERSION,
            "agent": self.agent,
            "games": [*self.games],
            "decisions": self.decisions,
            "seed": self.seed,
            "figures": [figure.to_json() for figure in self.figures],
            "not_measured": dict(self.not_measured),
            "strategies": {game: [line._asdict() for line in lines] for game, lines in self.strategies.items()},
            "cost": asdict(self.cost),
            "made_by": dict(self.made_by),
            "baseline": self.baseline,
            "notes": [*self.notes],
            "probes": {game: dict(probes) for game, probes in self.probes.items()},
            "requests": dict(self.requests),
            **({"draws": dict(self.draws)} if self.draws else {}),
            **({"exploiters": told} if (told := self._exploiters()) else {}),
        }

    def _exploiters(self) -> Json:
        return {game: one.to_json() for game, one in self.exploiters.items()}


@dataclass(frozen=True)
class DrawnGameRow:
    """Figures of a drawn game, as tables show them."""

    game: str
    value: float | None
    lower: float | None
    upper: float | None
    random: float | None
    replies: int | None
    situations: int | None


_CARD = TypeAdapter(Card)
_DRAWN = TypeAdapter(dict[str, list[DrawnGameRow]])


def _check_types(card: Card) -> None:
    """Raise a `ValueError` where a field is of another type: cards come from anybody, and are shown and compared."""
    _CARD.validate_json(json.dumps(asdict(card)), strict=True)
    _DRAWN.validate_json(json.dumps(card.draws.get("games", {})), strict=True)
    for value in asdict(card.cost).values():
        if isinstance(value, int):
            float(value)  # one of hundreds of digits is no number of calls


def read_card(path: Path) -> Card:
    """Read a card, or that in the folder of an audit."""
    file = path / FILE if path.is_dir() else path
    try:
        data = parse_json(read_small(file))
        if data["card"] not in READ:
            raise BadRecord(
                f"{file} is a card of version {data['card']}, and this program reads versions 1 to {VERSION}."
            )
        card = Card(
            agent=str(data["agent"]),
            games=tuple(map(str, data["games"])),
            decisions=int(data["decisions"]),
            seed=int(data["seed"]),
            figures=tuple(map(read_measurement, data["figures"])),
            not_measured=dict(data["not_measured"]),
            strategies={game: [StrategyLine(**line) for line in lines] for game, lines in data["strategies"].items()},
            cost=AuditCost(**data["cost"]),
            made_by=dict(data["made_by"]),
            baseline=str(data.get("baseline", "")),
            notes=tuple(map(str, data.get("notes", ()))),
            probes={str(game): dict(probes) for game, probes in data.get("probes", {}).items()},
            draws=dict(data.get("draws", {})),
            requests=dict(data.get("requests", {})),
            exploiters={str(game): read_exploiter(one) for game, one in data.get("exploiters", {}).items()},
        )
        _check_types(card)
        return card
    except OSError as error:
        if path.is_dir() and (read_plan(path) or {}).get("command") == "audit":
            raise BadRecord(
                f"The audit in {path} is not finished: the command that began it goes on with it."
            ) from error
        if not path.exists():
            folder = path.parent if path.name == FILE else path
            raise BadRecord(f"There is no audit at {path}: stratagem audit PLAYER --out {folder} makes one.") from error
        raise BadRecord(f"There is no card of an audit in {path}: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise BadRecord(f"{file} is no card of an audit.") from error
