"""What a run of several learners left when all was learnt: games without learning, and whose interest was served."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from stratagem.errors import StratagemError
from stratagem.reports.run_data import RunData
from stratagem.runs.folder import find_runs

FILE = "outcome.json"
T = TypeVar("T", bound=list[Any] | dict[str, Any])
Row = Mapping[str, Any]


def rows_of(run: RunData) -> list[Row]:
    """A row for each length of games, or none."""
    rows = _of_file(run, "rows", list)
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("figures"), dict)]


def interests_of(run: RunData) -> Mapping[str, Row]:
    """For every seat that learns what it earned, and what it could have; empty where that was not measured."""
    return _of_file(run, "interest", dict)


def _of_file(run: RunData, name: str, kind: type[T]) -> T:
    """A part of the file; empty where it is not there, or is something else."""
    try:
        found = json.loads((run.run.path / FILE).read_text(encoding="utf-8"))[name]
    except (OSError, ValueError, KeyError, TypeError):
        return kind()
    return found if isinstance(found, kind) else kind()


def unshaped(data: RunData) -> dict[int, float]:
    """What each seat earns where nobody looks beyond an episode: the mean of such runs that lie beside this one.

    In them sit the learners of this run that do not look beyond one either, with the same settings at the same seats.
    """
    naive = {slot: seat for slot, seat in enumerate(_seats(data)) if _is_naive(seat)}
    if not naive or len(naive) == len(_seats(data)):
        return {}
    found: dict[int, list[float]] = {}
    for run in find_runs(data.run.path.resolve().parent):
        for slot, pay in _paid_unshaped(RunData(run), data, naive).items():
            found.setdefault(slot, []).append(pay)
    return {slot: math.fsum(pays) / len(pays) for slot, pays in found.items()}


def _paid_unshaped(other: RunData, data: RunData, naive: Mapping[int, Any]) -> dict[int, float]:
    """What the seats of another run were paid, if it is such a run."""
    try:
        same = all(other.settings.get(name) == data.settings.get(name) for name in ("game", "model", "target_policies"))
    except StratagemError:
        return {}
    seats, rows = _seats(other), rows_of(other)
    if not same or not rows or not all(map(_is_naive, seats)) or any(seats[s : s + 1] != [naive[s]] for s in naive):
        return {}
    pays = [rows[0]["figures"].get(f"{name}/pay") for name in other.settings["seats"]]
    return {slot: float(pay) for slot, pay in enumerate(pays) if pay is not None and math.isfinite(pay)}


def _seats(data: RunData) -> list[Any]:
    seats = data.settings.get("seats")
    return list(seats.values()) if isinstance(seats, dict) else []


def _is_naive(seat: Any) -> bool:
    """Whether a seat learns after every episode."""
    return isinstance(seat, dict) and seat.get("update_every") == 1
