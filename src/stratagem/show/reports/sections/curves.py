"""Section of all metrics over training, one small picture each, with the chosen checkpoint marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.base.number_texts import short
from stratagem.measure.figures.training import fits
from stratagem.show.html import Html, element, join
from stratagem.show.reports.facets import FACETS, OF_GAME, Facet
from stratagem.show.reports.figure import NO_CHANCE, PictureFacts, count_noun, label, picture
from stratagem.show.reports.metric_reading import chance_of, split_name, title_of, unit_of
from stratagem.show.reports.run_data import SFT_PREFIXES, RunData, finite
from stratagem.show.reports.section import Section, fold_element, missing, table
from stratagem.training.runs.metrics import Curve

_ELSEWHERE = ("checks/", "signal/")
"""Metrics that other sections show."""
_OF_TRIALS = re.compile(r"visited/.*|[^/]+/(payoff|null|entropy|first/.*)")
"""Metrics that another section shows for a run of trials."""
_MOST = 1500
"""Largest number of points of a drawn curve."""
_MANY = 4
"""Number of curves from which names are shown on hover, in place of a legend."""


def curves(data: RunData) -> Section:
    """Make the section of all metrics that no other section shows."""
    chosen = data.chosen_step
    marked = f" The dashed line marks the chosen checkpoint, step {chosen}." if chosen is not None else ""
    return Section(
        name="curves",
        title="Metrics over training",
        shows=f"Every metric by step, counted from the end of SFT. Vertical axes contain 0, or go from 0 to 1.{marked}",
        body=_groups(data) if data.curves else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    return data.broken.get("metrics.jsonl", "No metrics have been logged yet: metrics.jsonl is empty.")


@dataclass(frozen=True)
class PictureCurves:
    """One picture's curves with their names in the picture."""

    facet: Facet
    lines: list[tuple[str, str, Curve]]
    """Role, name and curve of each line."""
    metrics: list[str]
    """Whole name of the metric of each line."""

    @property
    def is_constant(self) -> bool:
        """True if nothing in it ever changes."""
        return all(len(curve.values) > 1 and len(set(curve.values)) == 1 for _, _, curve in self.lines)


def _groups(data: RunData) -> Html:
    shown = {name: curve for name, curve in data.curves.items() if not name.startswith(_ELSEWHERE)}
    if data.algorithm == "shapellm":
        shown = {name: curve for name, curve in shown.items() if not _OF_TRIALS.fullmatch(name)}
    games = list(dict.fromkeys(match["game"] for name in shown if (match := OF_GAME.fullmatch(name))))
    parts = [_group(game, _of_game(game, shown), data) for game in games]
    rest = {name: curve for name, curve in shown.items() if not any(name.startswith(f"{game}/") for game in games)}
    sft = {name: curve for name, curve in rest.items() if name.startswith(SFT_PREFIXES)}
    others = {name: curve for name, curve in rest.items() if name not in sft}
    for owner in dict.fromkeys(map(_owner, others)):
        own = {name: curve for name, curve in others.items() if _owner(name) == owner}
        parts.append(_group(f"Optimization of {owner}" if owner else "Optimization", _singly(own), data))
    parts.append(_group("SFT", _singly(sft), data, is_sft=True))
    return join(*parts, _numbers(shown))


def _owner(metric: str) -> str:
    return split_name(metric).owner


def _of_game(game: str, shown: Mapping[str, Curve]) -> Iterator[PictureCurves]:
    """Yield the pictures of a game: those of the table of facets, and one for each other metric."""
    own = {name.removeprefix(f"{game}/"): curve for name, curve in shown.items() if name.startswith(f"{game}/")}
    drawn = set[str]()
    for facet in FACETS:
        match = [(role, name, metric) for pattern, role, name in facet.lines for metric in own if fits(pattern, metric)]
        drawn |= {metric for _, _, metric in match}
        if match:
            lines = [(role, name or metric.rpartition("/")[2], own[metric]) for role, name, metric in match]
            yield PictureCurves(facet, lines, [f"{game}/{metric}" for _, _, metric in match])
    for metric in (metric for metric in own if metric not in drawn):
        yield _alone(metric, own[metric], f"{game}/{metric}")


def _singly(shown: Mapping[str, Curve]) -> Iterator[PictureCurves]:
    for name, curve in shown.items():
        yield _alone(name, curve, name)


def _alone(name: str, curve: Curve, metric: str) -> PictureCurves:
    title, caption = title_of(name)
    return PictureCurves(Facet(title, caption, ()), [("validation", name, curve)], [metric])


def _group(title: str, drawn: Iterator[PictureCurves], data: RunData, *, is_sft: bool = False) -> Html:
    every = list(drawn)
    varying = [drawing for drawing in every if not drawing.is_constant]
    if not every:
        return Html("")
    chosen = None if is_sft else data.chosen_step
    steps = [step for drawing in varying for _, _, curve in drawing.lines for step in (curve.steps[0], curve.steps[-1])]
    ends = (min(steps), max(steps)) if steps else (0, 0)
    pictures = [_picture(drawing, ends, chosen, data) for drawing in varying]
    return join(
        element("h3", title),
        element("div", *pictures, class_="facets"),
        _constant([drawing for drawing in every if drawing.is_constant]),
    )


def _constant(drawn: Sequence[PictureCurves]) -> Html:
    """List the metrics that never changed, which are not drawn."""
    listed = [f"{drawing.facet.title} ({short(drawing.lines[0][2].values[0])})" for drawing in drawn]
    return element("p", f"Constant metrics, not drawn: {'; '.join(listed)}.", class_="note") if listed else Html("")


def _picture(drawn: PictureCurves, ends: tuple[int, int], chosen: int | None, data: RunData) -> Html:
    traces = []
    for index, (role, name, (steps, values)) in enumerate(drawn.lines):
        points = thin_points(len(steps))
        traces.append(
            {
                "x": [steps[point] for point in points],
                "y": [values[point] for point in points],
                "name": label(name),
                "role": f"{role}-{index % 6 + 1}" if role == "rival" else role,
                "mode": "lines" if len(points) > 60 else "lines+markers",
            }
        )
    margin = max(1, ends[1] - ends[0]) * 0.03
    layout: dict[str, Any] = {
        "xaxis": {"range": [ends[0] - margin, ends[1] + margin]},
        "showlegend": 1 < len(traces) <= _MANY,
        "marks": [] if chosen is None else [chosen],
        "levels": _levels(drawn, data),
        **vertical_axis(drawn.facet.shares),
    }
    return picture(drawn.facet.title, traces, layout, reading=_reading(drawn, data), caption=drawn.facet.caption)


def _levels(drawn: PictureCurves, data: RunData) -> list[dict[str, Any]]:
    """Return the chance level of each line that has one."""
    names = [f"chance, {name}" if len(drawn.lines) > 1 else "chance" for _, name, _ in drawn.lines]
    values = [chance_of(data, metric) for metric in drawn.metrics]
    return [{"value": value, "name": name} for value, name in zip(values, names, strict=True) if value is not None]


def _reading(drawn: PictureCurves, data: RunData) -> PictureFacts:
    units = dict.fromkeys(unit_of(data, metric) for metric in drawn.metrics)
    steps = max(len(curve.steps) for _, _, curve in drawn.lines)
    levels = [f"{short(level['value'])} ({level['name']})" for level in _levels(drawn, data)]
    return PictureFacts(
        " or ".join(filter(None, units)), count_noun(steps), chance=", ".join(levels) or _no_chance(drawn)
    )


def _no_chance(drawn: PictureCurves) -> str:
    of_game = any(OF_GAME.fullmatch(metric) for metric in drawn.metrics)
    return "not measured" if of_game else NO_CHANCE


def vertical_axis(shares: bool) -> dict[str, Any]:
    """Return the vertical axis: shares from 0 to 1; any other includes 0, so that no difference is exaggerated."""
    return {"yaxis": {"range": [-0.02, 1.02]}} if shares else {}


def thin_points(count: int) -> list[int]:
    """Return the indices of the drawn points: evenly spread, with the first and the last."""
    if count <= _MOST:
        return list(range(count))
    return sorted({round(index * (count - 1) / (_MOST - 1)) for index in range(_MOST)})


def _numbers(shown: Mapping[str, Curve]) -> Html:
    rows = [[name, *_ends(curve)] for name, curve in shown.items()]
    metrics = table(["metric", "points", "first", "last", "min", "max"], rows)
    return fold_element(f"Table of all {len(rows)} metrics", metrics)


def _ends(curve: Curve) -> list[str]:
    """Summarise a curve: the number of points, the first, the last, the minimum and the maximum finite value."""
    values = finite(curve).values()
    figures = curve.values[0], curve.values[-1], min(values, default=None), max(values, default=None)
    return [str(len(curve.steps)), *map(short, figures)]
