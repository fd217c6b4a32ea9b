"""Section of the play of several learners after training, seed by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from stratagem.base.errors import StratagemError
from stratagem.base.number_texts import number
from stratagem.games.bounded import make_bounded_game
from stratagem.games.matrix import MatrixGame
from stratagem.show.html import Html, element, join
from stratagem.show.reports.figure import PictureFacts, count_noun, picture
from stratagem.show.reports.outcome_file import Row, interests_of, rows_of, unshaped_payoffs
from stratagem.show.reports.run_data import RunData, finite
from stratagem.show.reports.section import Section, missing, table
from stratagem.show.reports.sections.trials import FIRST, seats_of
from stratagem.show.reports.siblings import band, runs_by_seed


def plane(data: RunData, seats: Sequence[str]) -> Html:
    """Draw both seats' payoffs, trial by trial, over the feasible set, with the lines of extortion."""
    try:
        game = make_bounded_game(str(data.settings.get("game", "")))
    except StratagemError:
        return Html("")
    if not isinstance(game, MatrixGame) or len(seats) != 2:
        return Html("")
    cells = [game.payoffs[a][b] for a, b in product(range(len(game.payoffs)), range(len(game.payoffs[0])))]
    traces = [_feasible(cells)]
    if game.cooperative:
        traces += [_extortion(game, factor, role) for factor, role in ((1, "start"), (3, "train"), (10, "last"))]
    ys, xs = (finite(data.curves.get(f"{name}/payoff")) for name in seats)
    steps = [step for step in ys if step in xs]
    x, y = [xs[step] for step in steps], [ys[step] for step in steps]
    traces.append({"x": x, "y": y, "mode": "markers", "role": "rival-1", "name": "trials", "text": steps})
    traces += [
        {"x": [x[trial]], "y": [y[trial]], "mode": "markers", "role": role, "name": name, "marker": {"size": 13}}
        for trial, role, name in ((0, "rival-3", "first trial"), (-1, "rival-2", "last trial"))
        if steps
    ]
    layout = {
        "showlegend": True,
        "hovermode": "closest",
        "yaxis": {},
    }
    caption = f"Vertical: reward per step of {seats[0]}. Horizontal: that of {seats[1]}. The frame is the feasible set."
    if game.cooperative:
        caption += (
            f" On a line of extortion by k, the surplus of {seats[0]} over mutual defection is k times the other."
        )
    reading = PictureFacts("points a step, both axes", count_noun(len(steps), "trial"))
    return picture("Payoffs by trial", traces, layout, reading=reading, caption=caption, kind="policy plane")


def _feasible(cells: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return the hull of the cells, with the second seat's payoff on the horizontal axis."""
    hull = convex_hull([(second, first) for first, second in cells])
    corners = [*hull, hull[0]]
    return {
        "x": [x for x, _ in corners],
        "y": [y for _, y in corners],
        "mode": "lines",
        "role": "member",
        "name": "feasible",
        "hoverinfo": "skip",
    }


def convex_hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of the convex hull in order, by Andrew's monotone chain."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    ends = []
    for line in (ordered, ordered[::-1]):
        corners: list[tuple[float, float]] = []
        for point in line:
            while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0.0:
                corners.pop()
            corners.append(point)
        ends += corners[:-1]
    return ends


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _extortion(game: MatrixGame, factor: float, role: str) -> dict[str, Any]:
    """`s1 - P1 = factor (s2 - P2)`, as far as payoffs go (Press and Dyson 2012)."""
    first, second = game.payoffs[-1][-1]
    most = max(pay for row in game.payoffs for pay, _ in row)
    return {
        "x": [second, second + (most - first) / factor],
        "y": [first, most],
        "mode": "lines",
        "role": role,
        "name": f"extortion by {factor:g}",
        "hoverinfo": "skip",
    }


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
    payoffs = [
        f"{_number(figures.get(f'{s}/payoff'))} \u00b1 {_number(figures.get(f'{s}/payoff_error'))}" for s in seats
    ]
    return [*payoffs, *(_number(figures.get(f"{s}/null")) for s in seats)]


def _means(every: Sequence[Row], seats: Sequence[str]) -> list[str]:
    payoffs = []
    for seat in seats:
        values = [float(row[f"{seat}/payoff"]) for row in every if math.isfinite(row.get(f"{seat}/payoff") or math.nan)]
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
    rows, names, alone = list[list[str]](), seats_of(data), unshaped_payoffs(data)
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
