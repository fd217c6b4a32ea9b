"""What those who learnt together play when all is learnt, seed by seed, with what the paper printed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number
from stratagem.reports.payoff_plane import plane
from stratagem.reports.run_data import RunData, finite
from stratagem.reports.section import Section, missing, table
from stratagem.reports.sections.trials import FIRST, seats_of
from stratagem.reports.shapellm_figures import Printed, printed
from stratagem.reports.siblings import band, together
from stratagem.runs.folder import find_runs

FILE = "outcome.json"
T = TypeVar("T", bound=list[Any] | dict[str, Any])
Row = Mapping[str, Any]


def outcome(data: RunData) -> Section:
    """Games without learning, the paper's figures beside, and the plane of payoffs."""
    runs = together(data)
    told = {run: rows for run in runs if (rows := rows_of(run))}
    parts = [_table(told, data) if told else missing("No games were played without learning yet: the run has to end.")]
    return Section(
        name="outcome",
        title="What came of it",
        shows="Games that are played when all is learnt, every seed by itself: a mean hides that one pair may have "
        "ended here and another there.",
        body=join(
            *parts, _interest(data, runs), _policies(data), element("div", plane(data, seats_of(data)), class_="facets")
        ),
    )


def _where(data: RunData) -> Html:
    return element("div", plane(data, seats_of(data)), class_="facets")


def rows_of(run: RunData) -> list[Row]:
    """The rows of the file, or none."""
    rows = _of_file(run, "rows", list)
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("figures"), dict)]


def _of_file(run: RunData, name: str, kind: type[T]) -> T:
    """A part of the file; empty where it is not there, or is something else."""
    try:
        found = json.loads((run.run.path / FILE).read_text(encoding="utf-8"))[name]
    except (OSError, ValueError, KeyError, TypeError):
        return kind()
    return found if isinstance(found, kind) else kind()


def _table(told: Mapping[RunData, list[Row]], data: RunData) -> Html:
    seats, lines = seats_of(data), list[list[str]]()
    for number_, _ in enumerate(next(iter(told.values()))):
        every = [(run, rows[number_]) for run, rows in told.items() if number_ < len(rows)]
        length = str(every[0][1].get("rounds"))
        for run, row in every:
            lines.append([f"{length} rounds, seed {run.settings.get('seed', 0)}", *_cells(row["figures"], seats)])
        if len(every) > 1:
            lines.append([f"{length} rounds, all seeds", *_means([row["figures"] for _, row in every], seats)])
    paper = printed(str(data.settings.get("game", "")), data.settings.get("seats"))
    note = element("p", "Pay a step with its standard error over games; over seeds with the 95 % interval.")
    return join(table(["", *(f"{s}: pay" for s in seats), *(f"{s}: null" for s in seats)], lines), note, _paper(paper))


def _cells(figures: Row, seats: Sequence[str]) -> list[str]:
    pays = [f"{_number(figures.get(f'{s}/pay'))} \u00b1 {_number(figures.get(f'{s}/pay_error'))}" for s in seats]
    return [*pays, *(_number(figures.get(f"{s}/null")) for s in seats)]


def _means(every: Sequence[Row], seats: Sequence[str]) -> list[str]:
    pays = []
    for seat in seats:
        values = [float(row[f"{seat}/pay"]) for row in every if math.isfinite(row.get(f"{seat}/pay") or math.nan)]
        low, high = band(values) if values else (math.nan, math.nan)
        pays.append(f"{_number((low + high) / 2)} ({_number(low)} \u2026 {_number(high)})")
    nulls = [math.fsum(float(row.get(f"{seat}/null") or 0.0) for row in every) / len(every) for seat in seats]
    return [*pays, *map(_number, nulls)]


def _number(value: Any) -> str:
    return number(float(value), 2) if isinstance(value, int | float) else number(None)


def _paper(paper: Printed | None) -> Html:
    if paper is None:
        return Html("")
    (first, wide), (second, far) = paper.first, paper.second
    said = f"ShapeLLM\u2019s {paper.source} has {number(first, 2)} \u00b1 {number(wide, 2)} and "
    return element("p", f"{said}{number(second, 2)} \u00b1 {number(far, 2)}, with gemma-2-2b-it.", class_="note")


def _interest(data: RunData, runs: Sequence[RunData]) -> Html:
    """What each learner earned beside what it could, and beside what learners earn where nobody shapes."""
    heads = ["", "earns a step", "the best memory-one answer", "gives up"]
    rows, unshaped, names = [], baseline(data), seats_of(data)
    for run in runs:
        for name, found in _of_file(run, "interest", dict).items():
            earned, possible = float(found["earned"]), float(found["possible"])
            row = [f"{name}, seed {run.settings.get('seed', 0)}", *map(_number, (earned, possible, possible - earned))]
            alone = unshaped.get(names.index(name)) if name in names else None
            rows.append([*row, *([] if alone is None else [_number(earned - alone)])])
    if not rows:
        return Html("")
    if unshaped:
        heads.append("against the unshaped")
    note = "What a learner could earn against the others as they ended, by the best of the 32 policies that never mix "
    note += "and look back one round: what it gives up is how far it was moved against its own interest."
    return join(table(heads, rows), element("p", note, class_="note"))


def baseline(data: RunData) -> dict[int, float]:
    """What each seat earns where all are naive: the mean of such runs of this game that lie beside this one."""
    found: dict[int, list[float]] = {}
    for run in find_runs(data.run.path.resolve().parent):
        other = RunData(run)
        seats = other.settings.get("seats")
        known = seats if isinstance(seats, dict) else {}
        naive = {seat.get("learner") for seat in known.values()} == {"naive"}
        if naive and other.settings.get("game") == data.settings.get("game") and (rows := rows_of(other)):
            for slot, name in enumerate(known):
                found.setdefault(slot, []).append(float(rows[0]["figures"].get(f"{name}/pay", math.nan)))
    return {slot: math.fsum(pays) / len(pays) for slot, pays in found.items()}


def _policies(data: RunData) -> Html:
    """How likely each seat plays its first action at the start and at the end of the run."""
    found = {name: points for name, curve in data.curves.items() if FIRST in name and len(points := finite(curve)) > 1}
    rows = [[n.replace(FIRST, ", after "), number(p[min(p)], 2), number(p[max(p)], 2)] for n, p in found.items()]
    rows = [[first.replace(", after start", ", at the start"), *rest] for first, *rest in rows]
    return table(["how likely the first action", "before any trial", "after the last"], rows) if rows else Html("")
