"""The figures: every metric's definition, the exact ones, what an estimate carries, and the suites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from chapters.markdown import code, definition, notes, page, table
from stratagem.evaluation.evaluate import CHANCE
from stratagem.evaluation.exact import Exact
from stratagem.evaluation.metrics import METRICS, Metric
from stratagem.evaluation.metrics.safety import WEIGHTS
from stratagem.evaluation.statistics import Difference, Estimate
from stratagem.evaluation.suites import SUITES, Line, Suite


def metrics() -> str:
    """The page of figures."""
    ours = {name: metric for name, metric in METRICS.items() if type(metric).__module__.startswith("stratagem.")}
    return page(
        "Metrics",
        "Every figure that an evaluation can print. A suite names those it prints; `--metric NAME` adds one. A figure "
        "that has no meaning for a game or its opponents is a dash, never a zero. Other packages add metrics by the "
        "entry-point group `stratagem.metrics`: see [Add a metric](../how-to/add-a-metric.md).",
        "The null of a figure is what a player without the quality in question would have. It stands in rows of its "
        "own under the players. Figures marked with * are also printed seat by seat: "
        "where seats have names, as the powers of Diplomacy, and with `--by-seat`. By seat there is no null.",
        table(("metric", "better", "unit", "null", "definition"), (_metric(name, m) for name, m in ours.items())),
        "## Weights of `safety`",
        table(("game", "exploit", "collusion", "externality"), ((game, *weights) for game, weights in WEIGHTS.items())),
        "## Exact figures",
        definition(Exact) + " They are computed where the player states its probabilities and the game is small "
        "enough; else the evaluation says why not. [Exploitability](../explanation/exploitability.md) explains them.",
        table(("figure", "meaning"), _exact()),
        "## What an estimate carries",
        definition(Estimate),
        table(("field", "meaning"), _fields(Estimate)),
        "## What a comparison carries",
        definition(Difference),
        table(("field", "meaning"), _fields(Difference)),
    )


def _metric(name: str, metric: Metric) -> tuple[str, str, str, str, str]:
    mark = "*" if metric.by_seat else ""
    return code(name) + mark, metric.better, metric.unit, metric.null_case, definition(type(metric))


def _exact() -> Iterator[tuple[str, str]]:
    yield from _fields(Exact)
    for name in ("gains", "nash_conv", "exploitability"):
        yield code(name), definition(getattr(Exact, name))


def _fields(cls: type) -> Iterator[tuple[str, str]]:
    meant = notes(cls)
    return ((code(field.name), meant.get(field.name, "")) for field in fields(cls))


def suites() -> str:
    """The page of suites."""
    return page(
        "Suites",
        "A suite says which games are played, against whom, and what is measured. `stratagem eval SUITE` plays one; "
        "in place of a suite it takes any game, against that game's pools or, where it has none, against random play "
        f"and, where the game can be searched, search. The player `{CHANCE}` is measured beside the others as the "
        "chance level unless `--no-chance` is given.",
        *(_suite(suite) for suite in SUITES.values()),
    )


def _suite(suite: Suite) -> str:
    measured = ", ".join(map(code, suite.metrics))
    told = f"{suite.summary} {suite.episodes} episodes an opponent.\n\nIt prints {measured}."
    rows = (row for line in suite.lines for row in _opponents(line))
    return f"## {suite.name}\n\n{told}\n\n{table(('game', 'pool', 'opponents'), rows)}"


def _opponents(line: Line) -> Iterator[tuple[str, str, str]]:
    for pool, names in line.pools.items():
        yield line.game, pool, ", ".join(map(code, names)) or "nobody"
