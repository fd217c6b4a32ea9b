"""Final figures of a run by path, from its final evaluation, its outcome, its league and its last metrics.

| path | figure |
| --- | --- |
| `evaluation/GAME/STAGE/METRIC` | metric of a stage's model in the final evaluation |
| `evaluation/GAME/STAGE/exact/exploitability` | exact figures of a stage, and its `nash_conv` and `worst_advantage` |
| `evaluation/GAME/STAGE/against/OPPONENT/METRIC` | figure against one opponent, such as `win_rate` or `payoff` |
| `evaluation/GAME/STAGE/seat/SEAT/METRIC` | figure in one seat by its name, the mean over opponents |
| `evaluation/GAME/STAGE/null/METRIC` | chance level of a metric in the same games |
| `outcome/ROUNDS/METRIC` | games without learning of a run of several learners, by their number of rounds |
| `steps/NUMBER/METRIC` | step rewards of an iteration |
| `metrics/METRIC` | last value of a metric of training |
| `mean/METRIC` | mean of a metric over training |
| `first/METRIC`, `highest/METRIC` | first and highest value of a metric over training |
| `trough/METRIC` | lowest value of a metric after its highest value |

A stage is the label of its model, such as `base`, `start` or `50`; `stage-1` is the second model of the evaluation,
`trained` is the last one, and `random` is uniform play, where the run evaluates them. Where no stage comes before
training, `start` is the base. `evaluation/all/...` is the mean over the games of the run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.base.files import parse_json, read_small, reason
from stratagem.base.renamed.metrics import present_keys, present_metric
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

_EXACT = ("exploitability", "nash_conv", "worst_advantage")
_ALL = "all"


def final_figures(run: RunFolder) -> dict[str, float]:
    """Return all final figures of a run by path; NaN stands for one that is undefined, as of play that never was."""
    found: dict[str, float] = {}
    found.update(evaluation_figures(_json(run, "evaluation.json")))
    found.update(_of_outcome(_json(run, "outcome.json")))
    for path in sorted(run.path.glob("steps/*.json")):
        found.update(_leaves(f"steps/{path.stem}", _json(run, f"steps/{path.name}")))
    for name, curve in read_metrics(run).items():
        found.update(_of_curve(name, curve.values))
    return {path: value if math.isfinite(value) else math.nan for path, value in found.items()}


def figure_at(figures: Mapping[str, float], path: str) -> float:
    """Return the figure at a path, also by its former name; an unknown path is answered with near ones."""
    if (present := present_metric(path)) not in figures:
        raise UnknownName("final figure of the run", path, figures)
    return figures[present]


def _json(run: RunFolder, name: str) -> Any:
    """Read a JSON file of a run; None where there is none."""
    path = run.path / name
    if not path.is_file():
        return None
    try:
        return present_keys(parse_json(read_small(path)))
    except (OSError, ValueError) as error:
        raise StratagemError(f"{path} cannot be read: {reason(error)}.") from error


def evaluation_figures(data: Any) -> Iterator[tuple[str, float]]:
    """Yield the figures of a final evaluation by path."""
    if data is None:
        return
    labels = list(data["rows"])
    stages = {label: [label.partition("@")[2] or label, f"stage-{number}"] for number, label in enumerate(labels)}
    stages["random"] = ["random"]
    if labels:
        stages[labels[-1]].append("trained")
        if "start" not in chain(*stages.values()):
            stages[labels[0]].append("start")
    over_games: dict[str, list[float]] = defaultdict(list)
    games = data["evaluation"]["games"]
    for game in games:
        name = str(game["game"]).partition("(")[0]
        for row in game["players"]:
            for stage in stages.get(row["player"], []):
                for path, value in _of_row(row):
                    yield f"evaluation/{name}/{stage}/{path}", value
                    over_games[f"evaluation/{_ALL}/{stage}/{path}"].append(value)
    yield from (
        (path, math.fsum(values) / len(values)) for path, values in over_games.items() if len(values) == len(games)
    )


def _of_row(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the figures of one player in one game."""
    yield from _means(row["metrics"])
    yield from ((f"unscaled/{name}", value) for name, value in _means(row.get("unscaled") or {}))
    exact = row.get("exact") or {}
    yield from ((f"exact/{name}", float(exact[name])) for name in _EXACT if exact.get(name) is not None)
    for opponent in row.get("opponents") or []:
        yield from ((f"against/{opponent['opponent']}/{name}", value) for name, value in _means(opponent))
    yield from ((f"null/{_key(name)}", float(value)) for name, value in (row.get("nulls") or {}).items())
    yield from _of_seats(row.get("by_seat") or [])


def _of_seats(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """Yield the figures of each seat, the mean over opponents."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, value in _means(row["metrics"]):
            found[f"seat/{row['seat']}/{name}"].append(value)
    yield from ((path, math.fsum(values) / len(values)) for path, values in found.items())


def _of_curve(name: str, values: Sequence[float]) -> Iterator[tuple[str, float]]:
    """Yield the figures of a metric over training."""
    known = [value for value in values if math.isfinite(value)]
    yield f"metrics/{name}", values[-1]
    yield f"mean/{name}", math.fsum(values) / len(values)
    if known:
        peak = known.index(max(known))
        yield from (
            (f"first/{name}", known[0]),
            (f"highest/{name}", known[peak]),
            (f"trough/{name}", min(known[peak:])),
        )


def _means(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, estimate in metrics.items():
        if isinstance(estimate, Mapping) and isinstance(estimate.get("mean"), int | float):
            yield _key(name), float(estimate["mean"])


def _key(name: str) -> str:
    """Return a metric's name as a part of a path."""
    return name.replace(" ", "_")


def _of_outcome(data: Any) -> Iterator[tuple[str, float]]:
    for row in (data or {}).get("rows", []):
        yield from _leaves(f"outcome/{row['rounds']}", row["figures"])


def _leaves(path: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers in nested tables by path."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(f"{path}/{name}", inner)
    elif value is None:
        yield path, math.nan
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)
