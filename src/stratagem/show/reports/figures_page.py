"""Page of an evaluation or a tournament: figures with their uncertainty, by game and by opponent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stratagem.base.errors import BadRecord
from stratagem.base.files import read_small, write_file
from stratagem.base.renamed.metrics import present_keys
from stratagem.measure.recorded import figures_of_record, reading_of
from stratagem.measure.report import evaluation_json
from stratagem.playing.store import read_episodes
from stratagem.show.evaluation_file import EvaluationFigures, GameTable
from stratagem.show.html import Html, element, join
from stratagem.show.legend import explain, explain_marks
from stratagem.show.markup import table_html, with_intervals
from stratagem.show.reports.files import EvaluationFile, TournamentSchema
from stratagem.show.reports.page import header, page
from stratagem.show.reports.section import Section
from stratagem.show.reports.sections.results import tables


def is_figures(path: Path) -> bool:
    """Return whether a path is a file of figures, or a record."""
    return path.is_file() or (path / "episodes").is_dir()


def write_figures(path: Path, into: Path | None = None) -> Path:
    """Write the page of a file that `--out` of `eval` or `tournament` wrote, or of a record; return its path."""
    target = into or (path.with_suffix(".html") if path.is_file() else path / "report.html")
    write_file(target, figures_html(path))
    return target


def figures_html(path: Path) -> str:
    """Return the page of the figures in a file, or of those that a record gives."""
    return page_of(_data(path), path.stem if path.is_file() else path.resolve().name, str(path))


def page_of(data: dict[str, Any], name: str, source: str) -> str:
    """Return the page of figures as JSON has them; `source` is told where they are none."""
    try:
        if "payoff" in data:
            return _tournament_page(name, TournamentSchema.model_validate(data))
        if "games" in data:
            return _evaluation_page(
                name, EvaluationFigures.model_validate(data), broken_off=data.get("broken_off") is True
            )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRecord(f"{source} holds no figures that can be shown: {where}: {first['msg']}.") from error
    raise BadRecord(f"{source} holds no figures: name a file that eval or tournament wrote.")


def figures_summary(path: Path) -> dict[str, Any]:
    """Return the figures in a file, or those that a record gives, as data."""
    return summary_of(_data(path))


def summary_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return figures as data: every metric by game and player, or the payoffs of a tournament."""
    if "payoff" in data:
        matrix = TournamentSchema.model_validate(data)
        means = dict(zip(matrix.players, (figure.to_json() for figure in matrix.mean_against_others), strict=True))
        return {"kind": "tournament", "game": matrix.game, "unit": matrix.unit, "mean_against_others": means}
    games = EvaluationFigures.model_validate(data).games
    return {"kind": "evaluation", "games": {game.game: _players(game) for game in games}}


def _players(game: GameTable) -> dict[str, Any]:
    """Return a game's figures by player, the exact ones too where there are some."""
    return {
        row.player: {
            "metrics": {name: figure and figure.to_json() for name, figure in row.metrics.items()},
            "exploitability": row.exploitability.exact,
        }
        for row in game.players
    }


def _data(path: Path) -> dict[str, Any]:
    return present_keys(_read(path)) if path.is_file() else _of_record(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_small(path))
    except (OSError, ValueError, RecursionError) as error:
        raise BadRecord(f"{path} cannot be read as JSON: name a file that eval or tournament wrote.") from error
    return data if isinstance(data, dict) else {}


def _of_record(path: Path) -> dict[str, Any]:
    reading = reading_of(path)
    return evaluation_json(figures_of_record(read_episodes(path), reading), path.name, reading.seed, 0)


def _evaluation_page(name: str, evaluation: EvaluationFigures, *, broken_off: bool) -> str:
    players = dict.fromkeys(row.player for game in evaluation.games for row in game.players)
    tiles = [("players", str(len(players))), ("games", str(len(evaluation.games)))]
    tiles += (
        [("episodes per opponent", str(evaluation.episodes_asked_per_opponent))]
        if evaluation.episodes_asked_per_opponent
        else []
    )
    tiles += [] if evaluation.seed is None else [("seed", str(evaluation.seed))]
    state = "broken off" if broken_off else "evaluation"
    sections = [
        Section("figures", "Figures", "Every player against the same opponents on the same deals.", _whole(evaluation)),
    ]
    return page(f"{name}: {state}", header(name, state, "", [], tiles), sections)


def _whole(evaluation: EvaluationFigures) -> Html:
    return tables(EvaluationFile(rows={}, evaluation=evaluation), folding=False)


def _tournament_page(name: str, tournament: TournamentSchema) -> str:
    size = len(tournament.players)
    if (
        len(tournament.payoff) != size
        or any(len(row) != size for row in tournament.payoff)
        or len(tournament.mean_against_others) != size
    ):
        raise BadRecord(f"{name} has a matrix whose size is not the number of players.")
    tiles = [("players", str(size)), ("episodes per pair", str(tournament.episodes_per_pair or "–"))]
    tiles += [] if tournament.seed is None else [("seed", str(tournament.seed))]
    shows = "Everybody against everybody, the best mean first."
    table = with_intervals(tournament.table(f"in {tournament.unit}"))
    legend = element("p", " ".join([*explain([table]), *explain_marks([table])]), class_="legend")
    section = Section("matrix", tournament.game, shows, join(table_html(table), legend))
    return page(f"{name}: tournament", header(name, "tournament", "", [], tiles), [section])
