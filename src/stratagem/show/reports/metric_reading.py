"""Reading of a metric: its title, the unit of its values, and its value for random play, which is the chance level."""

from __future__ import annotations

from typing import NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.games.bounded import make_bounded_game
from stratagem.measure.evaluate import CHANCE
from stratagem.measure.figures.figure import OF_PAYOFFS, PAYOFF
from stratagem.measure.figures.training import NATS, SCALED, SHARE, training_figure
from stratagem.measure.metrics import METRICS
from stratagem.measure.report import scale_of
from stratagem.show.evaluation_file import GameTable, PlayerFigures
from stratagem.show.reports.facets import OF_GAME
from stratagem.show.reports.run_data import SFT_PREFIXES, RunData

_LOSS = "loss"
_GROUPS = (_LOSS, "advantage", "overlap", "signal", "checks")
"""First words of names that are no owner."""


class MetricNameParts(NamedTuple):
    """Parts of the name of a metric of training."""

    owner: str
    part: str
    """Part of the loss."""
    name: str


def split_name(metric: str) -> MetricNameParts:
    """Split the name of a metric of training."""
    first, _, rest = metric.partition("/")
    owner, name = ("", metric) if not rest or first in _GROUPS else (first, rest)
    words = name.split("/")
    if words[0] == _LOSS and len(words) > 2:
        return MetricNameParts(owner, "/".join(words[1:-1]), f"{_LOSS}/{words[-1]}")
    return MetricNameParts(owner, "", name)


def title_of(metric: str) -> tuple[str, str]:
    """Return the title, without the owner, and the description of a metric; the whole name where it has none."""
    _, part, name = split_name(metric)
    figure = training_figure(name)
    if figure is None:
        return metric, ""
    title = f"{figure.label}, {part}" if part else figure.label
    unit = f", in {figure.unit}" if figure.unit in ("nats", NATS) else ""
    return title, f"{figure.explanation[:1].upper()}{figure.explanation[1:].replace('`', '')}{unit}."


_OWN_UNIT = "points a round"
_OF_TRAINING = {
    **dict.fromkeys(("payoff", "parts", "outcome", "reward"), "return an episode"),
    "decisions": "decisions an episode",
}
"""Units of the terms of a reward, and of other means over episodes of training."""


def split(metric: str) -> tuple[str, str]:
    """Return the game of a metric, empty where it has none, and the rest of its name."""
    match = OF_GAME.fullmatch(metric)
    return (match["game"], match[2]) if match else ("", metric.partition("/")[2] if _is_staged(metric) else metric)


def _is_staged(metric: str) -> bool:
    return metric.startswith(SFT_PREFIXES)


def unit_of(data: RunData, metric: str) -> str:
    """Return the unit of a metric; empty where it has none of its own, as a loss."""
    game, name = split(metric)
    if name == "payoff" and (played := _game_of_learner(data, game)):
        return game_unit(data, played)
    unit = _list_name(name) or _list_name(split_name(name).name) or _by_end(name)
    if unit == SCALED and (declared := _declared_unit(name)):
        return declared
    return game_unit(data, game) if unit == PAYOFF or (unit == SCALED and not _is_scaled(data, game)) else unit


def _list_name(name: str) -> str:
    figure = training_figure(name)
    return figure.unit if figure else ""


def _game_of_learner(data: RunData, name: str) -> str:
    """Return the game of a league that has a learner of that name; its payoffs are not scaled. Empty for others."""
    learners, games = (data.settings.get(key) for key in ("learners", "games"))
    return str(games[0]) if isinstance(learners, dict) and name in learners and games else ""


def _by_end(name: str) -> str:
    """Return the unit that the end of a name tells; empty where it tells none."""
    if "fraction" in name or name.endswith("/illegal_rate"):
        return SHARE
    return _OF_TRAINING.get(name.rpartition("/")[2], "")


def _declared_unit(name: str) -> str:
    """Return the unit that a metric of a validation declares; empty for payoffs, whose unit the run knows."""
    try:
        metric = METRICS.get(name.removeprefix("validation/").replace("_", " "))
    except StratagemError:
        return ""
    return "" if metric is None or metric.unit == OF_PAYOFFS else metric.unit


def game_unit(data: RunData, game: str) -> str:
    """Return the unit of a game's payoffs."""
    table = _table(data, game)
    if table is not None:
        return table.unit
    try:
        return make_bounded_game(game).spec.unit
    except StratagemError:
        return _OWN_UNIT


def _is_scaled(data: RunData, game: str) -> bool:
    """Return whether payoffs stand on the common scale; that of a game without cooperation is its own unit."""
    table = _table(data, game)
    if table is not None:
        return table.scale != 1.0
    try:
        return scale_of(make_bounded_game(game)) != 1.0
    except StratagemError:
        return False


def chance_of(data: RunData, metric: str) -> float | None:
    """Return a metric's value for random play in the final evaluation; None where it was not measured."""
    game, name = split(metric)
    table = _table(data, game)
    row = table and next((row for row in table.players if row.player == CHANCE), None)
    return _value(row, table, name) if row and table else None


def _value(row: PlayerFigures, table: GameTable, name: str) -> float | None:
    exact = {
        **dict.fromkeys(("exact/exploitability", "replies/exploitability"), row.exploitability.exact),
        "exact/worst_advantage": row.exploitability.worst_advantage,
        "validation/worst_case": _times(row.exploitability.worst_advantage, table.scale),
    }
    if name in exact:
        return exact[name]
    if not name.startswith("validation/"):
        return None
    figure = row.metrics.get(name.removeprefix("validation/").replace("_", " "))
    return figure.mean if figure else None


def _times(value: float | None, factor: float | None) -> float | None:
    return None if value is None or factor is None else value * factor


def _table(data: RunData, game: str) -> GameTable | None:
    """Return a game's table; metrics name a game without its parameters and its file."""
    tables = data.evaluation.evaluation.games if data.evaluation and game else []
    named = [table for table in tables if game in (table.game, table.game.partition("(")[0])]
    return next(iter(named or tables[: len(tables) == 1]), None)
