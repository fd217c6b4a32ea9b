"""Section of win rates of every stage in every game, as in SCO-PAL's Table 1, and of the training examples."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from stratagem.reports.files import Figure, GameTable
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import cell, number
from stratagem.reports.run_data import RunData
from stratagem.reports.section import Section, missing, table
from stratagem.reports.sections.results import in_order, why

WIN = "win rate"


def contest(data: RunData) -> Section:
    """Make the section of the final evaluation by games, and the mean over games."""
    evaluation = data.evaluation
    return Section(
        name="contest",
        title="What was learnt",
        shows="Games won, a tie as half a one, against all opponents together, on the same deals.",
        body=_table(evaluation.evaluation.games, evaluation.rows) if evaluation else missing(why(data)),
    )


def _table(games: Sequence[GameTable], names: dict[str, str]) -> Html:
    by_game = {game.game: dict(in_order(game, names)) for game in games}
    stages = list(dict.fromkeys(name for rows in by_game.values() for name in rows))
    lines = [
        [stage, *(cell(_won(by_game[game], stage)) for game in by_game), cell(mean_of(_all(by_game, stage)))]
        for stage in stages
    ]
    notes = [element("p", warning, class_="note") for game in games for warning in game.warnings]
    legend = "Over their 95 % intervals; the mean is over games, each as heavy as any other."
    return join(table(["", *by_game, "mean \u2191"], lines), element("p", legend, class_="legend"), *notes)


def _won(rows: dict[str, Any], stage: str) -> Figure | None:
    return rows[stage].metrics.get(WIN) if stage in rows else None


def _all(by_game: dict[str, dict[str, Any]], stage: str) -> list[Figure | None]:
    return [_won(rows, stage) for rows in by_game.values()]


def mean_of(figures: Sequence[Figure | None]) -> Figure | None:
    """Average over games, whose errors are independent; None where a game has no figure."""
    known = [figure for figure in figures if figure is not None and figure.mean is not None]
    if not known or len(known) < len(figures):
        return None
    mean = math.fsum(figure.mean or 0.0 for figure in known) / len(known)
    errors = [figure.se for figure in known]
    if any(error is None for error in errors):
        return Figure(mean=mean)
    se = math.sqrt(math.fsum((error or 0.0) ** 2 for error in errors)) / len(known)
    return Figure(mean=mean, se=se, n=sum(figure.n for figure in known), low=mean - 1.96 * se, high=mean + 1.96 * se)


def learnt_from(data: RunData) -> Section | None:
    """Counts of samples, and of the good ones among them."""
    rows = [line for path in sorted((data.run.path / "steps").glob("*.json")) for line in _lines(path)]
    if not rows:
        return None
    heads = ["iteration, game", "samples", "valid", "rows", "actions", "advantageous", "ratio"]
    legend = "Samples as often as they were said; rows are what differs; the ratio is of advantageous to others."
    return Section(
        name="steps",
        title="What it learnt from",
        shows="The games that were played, step by step: how much was legal, how much of it differs, how much won.",
        body=join(table(heads, rows), element("p", legend, class_="legend")),
    )


def _lines(path: Any) -> Iterator[list[str]]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        for game, game_of in [*known["games"].items(), ("all games", known["all"])]:
            counts = [str(game_of[name]) for name in ("rows", "unique_actions", "advantageous")]
            named = f"{int(path.stem) + 1}, {game}"
            yield [named, str(game_of["samples"]), f"{game_of['valid']:.1%}", *counts, number(game_of["ratio"], 2)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
