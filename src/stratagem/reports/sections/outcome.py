"""Section of the play of several learners after training, seed by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number
from stratagem.reports.outcome_file import Row, interests_of, rows_of, unshaped
from stratagem.reports.payoff_plane import plane
from stratagem.reports.run_data import RunData, finite
from stratagem.reports.section import Section, missing, table
from stratagem.reports.sections.trials import FIRST, seats_of
from stratagem.reports.siblings import band, together


def outcome(data: RunData) -> Section:
    """Make the section of games without learning, with the plane of payoffs."""
    runs = together(data)
    by_run = {run: rows for run in runs if (rows := rows_of(run))}
    parts = [
        _table(by_run, data) if by_run else missing("No games were played without learning yet: the run has to end.")
    ]
    return Section(
        name="outcome",
        title="What came of it",
        shows="Games that are played when all is learnt, every seed by itself: a mean hides that one pair may have "
        "ended here and another there.",
        body=join(
            *parts, _interest(data, runs), _policies(data), element("div", plane(data, seats_of(data)), class_="facets")
        ),
    )


def _table(by_run: Mapping[RunData, list[Row]], data: RunData) -> Html:
    seats, lines = seats_of(data), list[list[str]]()
    for number_, _ in enumerate(next(iter(by_run.values()))):
        every = [(run, rows[number_]) for run, rows in by_run.items() if number_ < len(rows)]
        length = str(every[0][1].get("rounds"))
        for run, row in every:
            lines.append([f"{length} rounds, seed {run.settings.get('seed', 0)}", *_cells(row["figures"], seats)])
        if len(every) > 1:
            lines.append([f"{length} rounds, all seeds", *_means([row["figures"] for _, row in every], seats)])
    note = element("p", "Pay a step with its standard error over games; over seeds with the 95 % interval.")
    return join(table(["", *(f"{s}: pay" for s in seats), *(f"{s}: null" for s in seats)], lines), note)


def _cells(figures: Row, seats: Sequence[str]) -> list[str]:
    payoffs = [f"{_number(figures.get(f'{s}/pay'))} \u00b1 {_number(figures.get(f'{s}/pay_error'))}" for s in seats]
    return [*payoffs, *(_number(figures.get(f"{s}/null")) for s in seats)]


def _means(every: Sequence[Row], seats: Sequence[str]) -> list[str]:
    payoffs = []
    for seat in seats:
        values = [float(row[f"{seat}/pay"]) for row in every if math.isfinite(row.get(f"{seat}/pay") or math.nan)]
        low, high = band(values) if values else (math.nan, math.nan)
        payoffs.append(f"{_number((low + high) / 2)} ({_number(low)} \u2026 {_number(high)})")
    nulls = [math.fsum(float(row.get(f"{seat}/null") or 0.0) for row in every) / len(every) for seat in seats]
    return [*payoffs, *map(_number, nulls)]


def _number(value: Any) -> str:
    return number(float(value), 2) if isinstance(value, int | float) else number(None)


def _interest(data: RunData, runs: Sequence[RunData]) -> Html:
    """Compare each learner's payoff with its possible payoff, and with that of learners without a shaper."""
    heads = ["", "earns a step", "the best memory-one answer", "gives up"]
    rows, names, alone = list[list[str]](), seats_of(data), unshaped(data)
    for run in runs:
        for name, interests in interests_of(run).items():
            earned, possible = float(interests["earned"]), float(interests["possible"])
            row = [f"{name}, seed {run.settings.get('seed', 0)}", *map(_number, (earned, possible, possible - earned))]
            without = alone.get(names.index(name)) if name in names else None
            rows.append([*row, *([_number(None if without is None else earned - without)] if alone else [])])
    if not rows:
        return Html("")
    if alone:
        heads.append("against the unshaped")
    note = "What a learner could earn against the others as they ended, by the best of the 32 policies that never mix "
    note += "and look back one round: what it gives up is how far it was moved against its own interest."
    return join(table(heads, rows), element("p", note, class_="note"))


def _policies(data: RunData) -> Html:
    """Return the probability of each seat's first action at the first and at the last measurement."""
    interests = {
        name: points for name, curve in data.curves.items() if FIRST in name and len(points := finite(curve)) > 1
    }
    rows = [[_state(name), _at(points, min(points)), _at(points, max(points))] for name, points in interests.items()]
    note = "A seat that remembers more than the last round is watched in its games, so a situation that did not come "
    note += "up before some trial is first measured there."
    made = table(["how likely the first action", "first measured", "last measured"], rows)
    return join(made, element("p", note, class_="note")) if rows else Html("")


def _state(metric: str) -> str:
    """Describe a state as `leader, after C-D`, or as the first round of a game."""
    return metric.replace(FIRST, ", after ").replace(", after start", ", in the first round")


def _at(points: Mapping[int, float], trial: int) -> Html:
    """Format a share with the trial after which it was measured."""
    when = f"after trial {trial}" if trial else "before any trial"
    return element("td", number(points[trial], 2), element("small", when))
