"""Check of a record: its sources, and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from stratagem.games.base import Json
from stratagem.runs.folder import RunFolder
from stratagem.viewer.decision_index import ShardIndex

State = Literal["fault", "passed", "not checked"]
MOST_PLACES = 20
"""Largest number of decisions that a check names."""


class Place(NamedTuple):
    """Decision with a defect, and the defect in a sentence."""

    where: Json
    sentence: str


@dataclass(frozen=True)
class Found:
    """Result of a check."""

    state: State
    sentence: str
    count: int = 0
    """Number of defects."""
    places: Sequence[Place] = field(default=())
    """The first of them."""


@dataclass(frozen=True)
class Source:
    """Record to check: some of its shards, in their order, and the run that it is of."""

    folder: Path
    shards: Sequence[ShardIndex]
    run: RunFolder | None = None


def faulty(places: Sequence[Place], sentence: str, otherwise: str) -> Found:
    """Return the result of a check that passes where there is no defect."""
    if not places:
        return Found("passed", otherwise)
    return Found("fault", sentence, len(places), places[:MOST_PLACES])
