"""Section of the play of several learners after training, seed by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stratagem.reports.numbers import number
from stratagem.reports.outcome_file import Row, interests_of, rows_of, unshaped
from stratagem.reports.payoff_plane import plane
from stratagem.reports.run_data import RunData, finite
from stratagem.reports.section import Section, missing, table
from stratagem.reports.sections.trials import FIRST, seats_of
from stratagem.reports.siblings import band, runs_by_seed
from stratagem.show.html import Html, element, join


def outcome(data: RunData) -> Section:
    """Make the section of games between the final policies, with the plane of payoffs."""
    runs = runs_by_seed(data)
    by_run = {run: rows for run in runs if (rows := rows_of(run))}
    parts = [
        _table(by_run, data)
        if by_run
        else missing("The games between the final policies are played at the end of the run.")
    ]
    return Section(
        name="outcome",
        title="Outcome after training",
        shows="Games between the final policies, seed by seed. A mean would hide that pairs end in different "
        "equilibria.",
        body=join(
            *parts, _interest(data, runs), _policies(data), element("div", plane(data, seats_of(data)), class_="facets")
        ),
    )


def _table(by_run: Mapping[RunData, list[Row]], data: RunData) -> Html:
    seats, lines = seats_of(data), list[list[str]]()
    for index, _ in enumerate(next(iter(by_run.values()))):
        every = [(run, rows[index]) for run, rows in by_run.items() if index < len(rows)]
        length = str(every[0][1].get("rounds"))
        for run, row in every:
            lines.append([f"{length} rounds, seed {run.settings.get('seed', 0)}", *_cells(row["figures"], seats)])
        if len(every) > 1:
            lines.append([f"{length} rounds, all seeds", *_means([row["figures"] for _, row in every], seats)])
    note = element("p", "Mean reward per step: ± standard error over games, 95 % interval over seeds.", class_="legend")
    return join(table(["", *(f"{s}: reward" for s in seats), *(f"{s}: null actions" for s in seats)], lines), note)


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
    return number(_value(value), 2)


def _value(value: Any) -> float:
    """Return a figure of the file; NaN where it was not measured."""
    return float(value) if isinstance(value, int | float) else math.nan


def _interest(data: RunData, runs: Sequence[RunData]) -> Html:
    """Compare each learner's payoff with its possible payoff, and with that of learners without a shaper."""
    heads = ["", "reward per step", "best memory-one response", "loss"]
    rows, names, alone = list[list[str]](), seats_of(data), unshaped(data)
    for run in runs:
        for name, interests in interests_of(run).items():
            earned, possible = (_value(interests.get(figure)) for figure in ("earned", "possible"))
            row = [f"{name}, seed {run.settings.get('seed', 0)}", *map(_number, (earned, possible, possible - earned))]
            without = alone.get(names.index(name)) if name in names else None
            rows.append([*row, *([_number(None if without is None else earned - without)] if alone else [])])
    if not rows:
        return Html("")
    if alone:
        heads.append("difference to unshaped")
    note = (
        "The best response is taken over the 32 deterministic memory-one policies, against the other final policies. "
    )
    note += "The loss is the reward of the best response less that of the learner: how far the others moved it against "
    note += "its own interest."
    return join(table(heads, rows), element("p", note, class_="note"))


def _policies(data: RunData) -> Html:
    """Return the probability of each seat's first action at the first and at the last measurement."""
    curves = {name: points for name, curve in data.curves.items() if FIRST in name and len(points := finite(curve)) > 1}
    rows = [[_state(name), _at(points, min(points)), _at(points, max(points))] for name, points in curves.items()]
    note = "The policy of a seat with a longer memory is measured in its games, so its first measurement in a state "
    note += "may come from a later trial."
    probabilities = table(["probability of the first action", "first measurement", "last measurement"], rows)
    return join(probabilities, element("p", note, class_="note")) if rows else Html("")


def _state(metric: str) -> str:
    """Describe a state as `leader, after C-D`, or as the first round of a game."""
    return metric.replace(FIRST, ", after ").replace(", after start", ", in the first round")


def _at(points: Mapping[int, float], trial: int) -> Html:
    """Format a share with the trial after which it was measured."""
    when = f"after trial {trial}" if trial else "before training"
    return element("td", number(points[trial], 2), element("small", when))
