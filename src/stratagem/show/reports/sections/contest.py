"""Sections of a SCO-PAL run: win rates by stage and game (Table 1 of the paper), and the training data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from stratagem.base.files import parse_json, read_small
from stratagem.measure.figures.catalogue import figures_of, find_figure
from stratagem.measure.statistics import Estimate
from stratagem.show.evaluation_file import GameTable
from stratagem.show.html import Html, element, join
from stratagem.show.legend import explain, explain_marks
from stratagem.show.markup import table_html, with_intervals
from stratagem.show.reports.numbers import mean_with_interval
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, missing
from stratagem.show.reports.sections.results import in_order, why
from stratagem.show.table import ResultTable, Value, columns_of, text_table

WIN = "win rate"
_COUNTS = ("samples", "valid", "rows", "unique_actions", "advantageous", "ratio")
"""Figures of the training data of an iteration, by their keys in the file."""
_NUMBERS = TypeAdapter(dict[str, int | float | None])


def contest(data: RunData) -> Section:
    """Make the section of the final evaluation: win rates by game, and their mean over games."""
    evaluation = data.evaluation
    return Section(
        name="contest",
        title="Final evaluation",
        shows="Win rate against all opponents on the same deals. A tie counts as half a win.",
        body=_table(evaluation.evaluation.games, evaluation.rows) if evaluation else missing(why(data)),
    )


def _table(games: Sequence[GameTable], names: dict[str, str]) -> Html:
    by_game = {game.game: dict(in_order(game, names)) for game in games}
    stages = list(dict.fromkeys(name for rows in by_game.values() for name in rows))
    rows = [
        (stage, *(_win_rate(by_game[game], stage) for game in by_game), mean_of(_all(by_game, stage)))
        for stage in stages
    ]
    rate = find_figure(WIN)
    columns = columns_of("", *(replace(rate, label=game) for game in by_game), replace(rate, label="mean"))
    note, warnings = "The mean gives every game the same weight.", [one for game in games for one in game.warnings]
    found = replace(text_table(rate.label, columns, rows), notes=(note,), warnings=tuple(warnings))
    return _table_with_legend(with_intervals(found), [f"{rate.label}: {rate.explanation}."])


def _table_with_legend(found: ResultTable, legend: Iterable[str]) -> Html:
    """Write a table and the sentences that explain it."""
    return join(table_html(found), element("p", " ".join([*legend, *explain_marks([found])]), class_="legend"))


def _win_rate(rows: dict[str, Any], stage: str) -> Estimate | None:
    return rows[stage].metrics.get(WIN) if stage in rows else None


def _all(by_game: dict[str, dict[str, Any]], stage: str) -> list[Estimate | None]:
    return [_win_rate(rows, stage) for rows in by_game.values()]


def mean_of(figures: Sequence[Estimate | None]) -> Estimate | None:
    """Average over games, whose errors are independent; None where a game has no figure."""
    known = [figure for figure in figures if figure is not None and not isnan(figure.mean)]
    if not known or len(known) < len(figures):
        return None
    return mean_with_interval(known)


def training_data(data: RunData) -> Section | None:
    """Make the section of the counts of training samples; None where a run has none."""
    rows = [line for path in sorted((data.run.path / "steps").glob("*.json")) for line in _lines(path)]
    if not rows:
        return None
    found = text_table("", ("iteration, game", *figures_of(*_COUNTS)), rows)
    return Section(
        name="training_data",
        title="Training data",
        shows="Samples of the played games by iteration: valid samples, distinct rows and actions, advantageous rows.",
        body=_table_with_legend(found, explain([found])),
    )


def _lines(path: Path) -> Iterator[tuple[Value, ...]]:
    """Yield the rows of an iteration; a file of somebody else may have anything in them."""
    try:
        data = parse_json(read_small(path))
        for game, row in [*data["games"].items(), ("all games", data["all"])]:
            numbers = _NUMBERS.validate_python({name: row[name] for name in _COUNTS})
            yield (f"{int(path.stem) + 1}, {game}", *numbers.values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
