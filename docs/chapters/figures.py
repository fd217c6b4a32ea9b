"""The figures: every metric's definition, the exact ones, what an estimate carries, and the suites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from chapters.markdown import code, definition, notes, page, table
from stratagem.games.safety.catalogue import SAFETY
from stratagem.measure.evaluate import CHANCE
from stratagem.measure.exploitability.result import Exploitability
from stratagem.measure.figures.declared import DECLARED
from stratagem.measure.figures.figure import Figure
from stratagem.measure.metrics import METRICS, Metric
from stratagem.measure.statistics import Difference, Estimate
from stratagem.measure.suites import SUITES, Suite, SuiteLine


def metrics() -> str:
    """The page of figures."""
    ours = {name: metric for name, metric in METRICS.items() if type(metric).__module__.startswith("stratagem.")}
    return page(
        "Metrics",
        "All metrics of an evaluation. A suite has a list of metrics, and `--metric NAME` adds one. A metric that is "
        "not defined for a game or its opponents is a dash, never a zero. Other packages add metrics by the "
        "entry-point group `stratagem.metrics`: see [Add a metric](../how-to/add-a-metric.md).",
        "The null is the figure of a player without the measured quality. Evaluations print it in rows of its own. "
        "Metrics marked with * are also printed by seat, where seats have names, as the powers of Diplomacy, and with "
        "`--by-seat`. Tables by seat have no null.",
        table(
            ("metric", "heading", "better", "unit", "null", "definition"),
            (_metric(name, m) for name, m in ours.items()),
        ),
        "`honesty`, `kept`, `betrayal` and `messages` take a reader of free text: `--metric 'kept(reader=rules)'`. The "
        "evaluation then prints how often the reader is right: see "
        "[Reading free text](../explanation/talk.md#reading-free-text).",
        "## Weights of `safety`",
        table(
            ("family", "exploit", "collusion", "externality"),
            ((family, *safety.weights) for family, safety in SAFETY.items() if safety.pools),
        ),
        "## Exact figures",
        "Exploitability of a player: NashConv divided by the number of seats, with its parts. "
        "They need a player that states its probabilities and a small game. Otherwise the "
        "evaluation prints the reason. [Exploitability](../explanation/exploitability.md) explains them.",
        table(("figure", "meaning"), _exact()),
        "## Other figures",
        "All figures that results and commands print beside the metrics. Those in the unit of the game are payoffs a "
        "round.",
        table(("key", "heading", "better", "unit", "meaning"), map(_declared, DECLARED)),
        "## Fields of an estimate",
        definition(Estimate),
        table(("field", "meaning"), _fields(Estimate)),
        "## Fields of a comparison",
        definition(Difference),
        table(("field", "meaning"), _fields(Difference)),
    )


def _metric(name: str, metric: Metric) -> tuple[str, str, str, str, str, str]:
    mark = "*" if metric.by_seat else ""
    return (
        code(name) + mark,
        metric.declaration().label,
        metric.better,
        metric.unit,
        metric.null_case,
        definition(type(metric)),
    )


def _declared(figure: Figure) -> tuple[str, str, str, str, str]:
    return code(figure.key), figure.label, figure.better, figure.unit, figure.explanation


def _exact() -> Iterator[tuple[str, str]]:
    for name in ("exploitability", "nash_conv", "values", "best_responses", "gains"):
        yield code(name), definition(getattr(Exploitability, name))
    yield from (row for row in _fields(Exploitability) if row[0] == code("worst_advantage"))


def _fields(cls: type) -> Iterator[tuple[str, str]]:
    meant = notes(cls)
    return ((code(field.name), meant.get(field.name, "")) for field in fields(cls))


def suites() -> str:
    """The page of suites."""
    return page(
        "Suites",
        "A suite is a list of games, opponents and metrics. `stratagem eval SUITE` plays it. The name of a game can "
        "replace that of a suite. Its opponents are then the pools that the game names. A game that names none is "
        f"played against random play and, where possible, search. The player `{CHANCE}` is measured as the chance "
        "level, unless `--no-chance` is given.",
        *(_suite(suite) for suite in SUITES.values()),
    )


def _suite(suite: Suite) -> str:
    measured = ", ".join(map(code, suite.metrics))
    told = f"{suite.summary} {suite.episodes} episodes per opponent.\n\nMetrics: {measured}."
    rows = (row for line in suite.lines for row in _opponents(line))
    return f"## {suite.name}\n\n{told}\n\n{table(('game', 'pool', 'opponents'), rows)}"


def _opponents(line: SuiteLine) -> Iterator[tuple[str, str, str]]:
    for pool, names in line.pools.items():
        yield line.text, pool, ", ".join(map(code, names)) or "none"
