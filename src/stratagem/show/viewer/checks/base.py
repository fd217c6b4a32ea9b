"""Check of a record: its sources, and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from stratagem.games.base import Json
from stratagem.show.viewer.decision_index import ShardIndex
from stratagem.training.runs.folder import RunFolder

State = Literal["fault", "passed", "not checked"]
MOST_PLACES = 20
"""Largest number of decisions that a check names."""


class DefectiveDecision(NamedTuple):
    """Decision with a defect, and the defect in a sentence."""

    where: Json
    sentence: str


@dataclass(frozen=True)
class CheckResult:
    """Result of a check."""

    state: State
    sentence: str
    count: int = 0
    """Number of defects."""
    places: Sequence[DefectiveDecision] = field(default=())
    """The first of them."""


@dataclass(frozen=True)
class Source:
    """Record to check: some of its shards, in their order, and the run that it is of."""

    folder: Path
    shards: Sequence[ShardIndex]
    run: RunFolder | None = None


def faulty(places: Sequence[DefectiveDecision], sentence: str, otherwise: str) -> CheckResult:
    """Return the result of a check that passes where there is no defect."""
    if not places:
        return CheckResult("passed", otherwise)
    return CheckResult("fault", sentence, len(places), places[:MOST_PLACES])
