"""Every term over training, one small picture each, all on the same steps, with the chosen checkpoint marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.reports.facets import FACETS, NAMED, OF_GAME, Facet, fits
from stratagem.reports.figure import label, picture
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import short
from stratagem.reports.run_data import WARM, RunData, finite
from stratagem.reports.section import Section, folded, missing, table
from stratagem.runs.metrics import Curve

_ELSEWHERE = ("checks/", "signal/")
"""What other sections show."""
_OF_TRIALS = re.compile(r"visited/.*|[^/]+/(pay|null|entropy|first/.*)")
"""What another section shows of a run of trials."""
_MOST = 1500
"""So many points of a curve are drawn."""
_MANY = 4
"""From so many curves on, a picture tells their names when it is pointed at, in place of a legend."""


def curves(data: RunData) -> Section:
    """All metrics that no other section shows."""
    chosen = data.chosen_step
    marked = f" The dashed line marks the chosen checkpoint, step {chosen}." if chosen is not None else ""
    return Section(
        name="curves",
        title="Over training",
        shows=f"Every term over the steps after the warm start; every vertical axis holds 0, or 0 to 1.{marked}",
        body=_groups(data) if data.curves else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    return data.broken.get("metrics.jsonl", "Nothing has been measured yet: metrics.jsonl has no line.")


@dataclass(frozen=True)
class Drawn:
    """One picture's curves with their names in the picture."""

    facet: Facet
    lines: list[tuple[str, str, Curve]]
    """Role, name, curve."""

    @property
    def still(self) -> bool:
        """Whether nothing in it ever changes."""
        return all(len(curve.values) > 1 and len(set(curve.values)) == 1 for _, _, curve in self.lines)


def _groups(data: RunData) -> Html:
    shown = {name: curve for name, curve in data.curves.items() if not name.startswith(_ELSEWHERE)}
    if data.algorithm == "shaping":
        shown = {name: curve for name, curve in shown.items() if not _OF_TRIALS.fullmatch(name)}
    games = list(dict.fromkeys(found["game"] for name in shown if (found := OF_GAME.fullmatch(name))))
    parts = [_group(game, _of_game(game, shown), data) for game in games]
    rest = {name: curve for name, curve in shown.items() if not any(name.startswith(f"{game}/") for game in games)}
    warm = {name: curve for name, curve in rest.items() if name.startswith(WARM)}
    others = {name: curve for name, curve in rest.items() if name not in warm}
    parts.append(_group("The learner", _singly(others), data))
    parts.append(_group("Warm start", _singly(warm), data, warm=True))
    return join(*parts, _numbers(shown))


def _of_game(game: str, shown: Mapping[str, Curve]) -> Iterator[Drawn]:
    """The pictures of a game, as the table of facets has them, and one for each metric that stands in none."""
    own = {name.removeprefix(f"{game}/"): curve for name, curve in shown.items() if name.startswith(f"{game}/")}
    drawn = set[str]()
    for facet in FACETS:
        found = [(role, name, metric) for pattern, role, name in facet.lines for metric in own if fits(pattern, metric)]
        drawn |= {metric for _, _, metric in found}
        if found:
            yield Drawn(facet, [(role, name or metric.rpartition("/")[2], own[metric]) for role, name, metric in found])
    yield from _singly({metric: curve for metric, curve in own.items() if metric not in drawn})


def _singly(shown: Mapping[str, Curve]) -> Iterator[Drawn]:
    for name, curve in shown.items():
        title, says = NAMED.get(name, (name, ""))
        yield Drawn(Facet(title, says, ()), [("validation", name, curve)])


def _group(title: str, drawn: Iterator[Drawn], data: RunData, *, warm: bool = False) -> Html:
    every = list(drawn)
    moving = [one for one in every if not one.still]
    if not every:
        return Html("")
    chosen = None if warm else data.chosen_step
    steps = [step for one in moving for _, _, curve in one.lines for step in (curve.steps[0], curve.steps[-1])]
    ends = (min(steps), max(steps)) if steps else (0, 0)
    pictures = [_picture(one, ends, chosen) for one in moving]
    return join(element("h3", title), element("div", *pictures, class_="facets"), _still([o for o in every if o.still]))


def _still(drawn: Sequence[Drawn]) -> Html:
    """What never changed is said and not drawn."""
    told = [f"{one.facet.title} ({short(one.lines[0][2].values[0])})" for one in drawn]
    return (
        element("p", f"The same at every step, and not drawn: {'; '.join(told)}.", class_="note") if told else Html("")
    )


def _picture(drawn: Drawn, ends: tuple[int, int], chosen: int | None) -> Html:
    traces = []
    for place, (role, name, (steps, values)) in enumerate(drawn.lines):
        kept = thinned(len(steps))
        traces.append(
            {
                "x": [steps[index] for index in kept],
                "y": [values[index] for index in kept],
                "name": label(name),
                "role": f"{role}-{place % 6 + 1}" if role == "rival" else role,
                "mode": "lines" if len(kept) > 60 else "lines+markers",
            }
        )
    margin = max(1, ends[1] - ends[0]) * 0.03
    layout: dict[str, Any] = {
        "xaxis": {"range": [ends[0] - margin, ends[1] + margin]},
        "showlegend": 1 < len(traces) <= _MANY,
        "marks": [] if chosen is None else [chosen],
        **upright(drawn.facet.shares),
    }
    return picture(drawn.facet.title, traces, layout, says=drawn.facet.says)


def upright(shares: bool) -> dict[str, Any]:
    """The vertical axis of shares goes from 0 to 1; any other holds 0, so that no difference is exaggerated."""
    return {"yaxis": {"range": [-0.02, 1.02]}} if shares else {}


def thinned(count: int) -> list[int]:
    """The places of the points that are drawn: evenly spread, the first and the last among them."""
    if count <= _MOST:
        return list(range(count))
    return sorted({round(place * (count - 1) / (_MOST - 1)) for place in range(_MOST)})


def _numbers(shown: Mapping[str, Curve]) -> Html:
    rows = [[name, *_ends(curve)] for name, curve in shown.items()]
    made = table(["metric", "points", "first", "last", "least", "greatest"], rows)
    return folded(f"The same as numbers ({len(rows)} metrics)", made)


def _ends(curve: Curve) -> list[str]:
    """How many points, the first and the last, and the least and the greatest of those that are numbers."""
    known = finite(curve).values()
    figures = curve.values[0], curve.values[-1], min(known, default=None), max(known, default=None)
    return [str(len(curve.steps)), *map(short, figures)]
