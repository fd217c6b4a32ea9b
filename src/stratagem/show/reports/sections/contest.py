"""Sections of a SCO-PAL run: win rates by stage and game (Table 1 of the paper), and the training data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from stratagem.base.files import parse_json, read_small
from stratagem.base.number_texts import number
from stratagem.measure.statistics import Estimate
from stratagem.show.evaluation_file import GameTable
from stratagem.show.html import Html, element, join
from stratagem.show.reports.numbers import cell, mean_with_interval
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, missing, table
from stratagem.show.reports.sections.results import in_order, why

WIN = "win rate"


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
    lines = [
        [stage, *(cell(_win_rate(by_game[game], stage)) for game in by_game), cell(mean_of(_all(by_game, stage)))]
        for stage in stages
    ]
    notes = [element("p", warning, class_="note") for game in games for warning in game.warnings]
    legend = "Below each figure stands its 95 % interval. The mean gives every game the same weight."
    return join(table(["", *by_game, "mean \u2191"], lines), element("p", legend, class_="legend"), *notes)


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
    heads = ["iteration, game", "samples", "valid", "rows", "actions", "advantageous", "ratio"]
    legend = "Samples count repetitions. Rows are distinct samples. Ratio is advantageous rows to other rows."
    return Section(
        name="training_data",
        title="Training data",
        shows="Samples of the played games by iteration: valid samples, distinct rows and actions, advantageous rows.",
        body=join(table(heads, rows), element("p", legend, class_="legend")),
    )


def _lines(path: Any) -> Iterator[list[str]]:
    try:
        data = parse_json(read_small(path))
        for game, row in [*data["games"].items(), ("all games", data["all"])]:
            counts = [str(row[name]) for name in ("rows", "unique_actions", "advantageous")]
            title = f"{int(path.stem) + 1}, {game}"
            yield [title, str(row["samples"]), f"{row['valid']:.1%}", *counts, number(row["ratio"], 2)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
