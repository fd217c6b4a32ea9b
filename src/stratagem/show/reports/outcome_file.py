"""Outcome of a run of several learners: games without learning, and the payoffs of the learners."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from stratagem.base.errors import StratagemError
from stratagem.base.files import parse_json, read_small
from stratagem.base.renamed.metrics import present_keys
from stratagem.show.reports.run_data import RunData
from stratagem.training.runs.folder import find_runs

FILE = "outcome.json"
T = TypeVar("T", bound=list[Any] | dict[str, Any])
Row = Mapping[str, Any]


def rows_of(run: RunData) -> list[Row]:
    """Return the rows by length of games, or none."""
    rows = _of_file(run, "rows", list)
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("figures"), dict)]


def interests_of(run: RunData) -> Mapping[str, Row]:
    """Return the payoff of every learner and its possible payoff; empty where that was not measured."""
    return _of_file(run, "interest", dict)


def _of_file(run: RunData, name: str, kind: type[T]) -> T:
    """Read a part of the file; empty where it is missing or invalid."""
    try:
        by_slot = present_keys(parse_json(read_small(run.run.path / FILE)))[name]
    except (OSError, ValueError, KeyError, TypeError):
        return kind()
    return by_slot if isinstance(by_slot, kind) else kind()


def unshaped_payoffs(data: RunData) -> dict[int, float]:
    """Return the mean payoff of each seat in runs beside this one whose learners all update every episode.

    In them sit the learners of this run that do not look beyond one either, with the same settings at the same seats.
    """
    naive = {slot: seat for slot, seat in enumerate(_seats(data)) if _is_naive(seat)}
    if not naive or len(naive) == len(_seats(data)):
        return {}
    by_slot: dict[int, list[float]] = {}
    for run in find_runs(data.run.path.resolve().parent):
        for slot, payoff in _paid_unshaped(RunData(run), data, naive).items():
            by_slot.setdefault(slot, []).append(payoff)
    return {slot: math.fsum(payoffs) / len(payoffs) for slot, payoffs in by_slot.items()}


def _paid_unshaped(other: RunData, data: RunData, naive: Mapping[int, Any]) -> dict[int, float]:
    """Return the payoffs of another run's seats, if it is such a run."""
    try:
        same = all(other.settings.get(name) == data.settings.get(name) for name in ("game", "model", "target_policies"))
    except StratagemError:
        return {}
    seats, rows = _seats(other), rows_of(other)
    if not same or not rows or not all(map(_is_naive, seats)) or any(seats[s : s + 1] != [naive[s]] for s in naive):
        return {}
    payoffs = [rows[0]["figures"].get(f"{name}/payoff") for name in other.settings["seats"]]
    return {slot: float(payoff) for slot, payoff in enumerate(payoffs) if payoff is not None and math.isfinite(payoff)}


def _seats(data: RunData) -> list[Any]:
    seats = data.settings.get("seats")
    return list(seats.values()) if isinstance(seats, dict) else []


def _is_naive(seat: Any) -> bool:
    """Return whether a seat updates every episode."""
    return isinstance(seat, dict) and seat.get("update_every") == 1
