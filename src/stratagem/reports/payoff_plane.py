"""Plane of two seats' payoffs: the feasible set, the trials, and the lines of extortion (Press and Dyson 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from stratagem.errors import StratagemError
from stratagem.games.bounded import make_bounded_game
from stratagem.games.matrix import MatrixGame
from stratagem.reports.figure import Reading, counted, picture
from stratagem.reports.run_data import RunData, finite
from stratagem.show.html import Html


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
    ys, xs = (finite(data.curves.get(f"{name}/pay")) for name in seats)
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
    reading = Reading("points a step, both axes", counted(len(steps), "trial"))
    return picture("Payoffs by trial", traces, layout, reading=reading, caption=caption, kind="policy plane")


def _feasible(cells: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return the hull of the cells, with the second seat's payoff on the horizontal axis."""
    hull = _hull([(second, first) for first, second in cells])
    corners = [*hull, hull[0]]
    return {
        "x": [x for x, _ in corners],
        "y": [y for _, y in corners],
        "mode": "lines",
        "role": "member",
        "name": "feasible",
        "hoverinfo": "skip",
    }


def _hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
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
