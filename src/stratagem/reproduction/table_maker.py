"""Maker of a published table: its runs as one resumable series, and each figure beside the printed one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from stratagem.errors import StratagemError, UnknownName
from stratagem.evaluation.matchups import Evaluator
from stratagem.evaluation.statistics import Estimate, with_interval
from stratagem.evaluation.suites import OPPONENTS, Line, Suite
from stratagem.files import finite, parse_json, read_small
from stratagem.games.key import Key
from stratagem.models.run_models import read_run_models
from stratagem.players.language import language_player
from stratagem.reproduction.published import (
    EvaluationOfPaper,
    PublishedColumn,
    PublishedRow,
    printed_value,
    with_folders,
)
from stratagem.reproduction.run_figures import evaluation_figures, figure_at, final_figures
from stratagem.reproduction.table_plan import TablePlan, within_hours
from stratagem.runs.files import write_json_once
from stratagem.runs.folder import RunFolder
from stratagem.sweeps.run_maker import Tell, make_runs
from stratagem.training.evaluation import Final

T = TypeVar("T")
_FIELD = re.compile(r"\{([^{}]*)\}")
"""Field of a path; no format of Python's, whose widths and attributes a stranger's file could use."""


@dataclass(frozen=True)
class PublishedFigure:
    """Printed figure, and those of the runs that answer to it."""

    row: str
    column: str
    published: str
    """Figure as the paper prints it; empty where it prints none."""
    here: Estimate | None
    """Mean over seeds with its interval by Student's t; None where no run is finished."""
    chance: float | None
    """Chance level, in the paper's unit."""
    why_not: str = ""
    """Reason why there is no figure of a run."""
    spread: tuple[float, float] | None = None
    """Range in which a figure of one seed is expected; None where the paper's file gives none."""

    @property
    def is_outside(self) -> bool:
        """True where the figure here is outside its expected range."""
        if self.here is None or self.spread is None:
            return False
        return not self.spread[0] <= self.here.mean <= self.spread[1]

    @property
    def difference(self) -> float | None:
        """Figure here less the printed one."""
        printed = printed_value(self.published)
        return None if self.here is None or printed is None else self.here.mean - printed

    def to_json(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        here = None if self.here is None else finite(asdict(self.here))
        own = {"row": self.row, "column": self.column, "published": self.published, "here": here}
        expected = {"spread": self.spread, "is_outside": self.is_outside} if self.spread else {}
        return {**own, "difference": self.difference, "chance": self.chance, "why_not": self.why_not, **expected}


def make_table(plan: TablePlan, tell: Tell, *, hours: float = 0.0, any_tree: bool = False) -> dict[str, StratagemError]:
    """Make the missing runs and evaluations of a table, and return the errors of those that failed, by name.

    No run is begun after the hours are spent.
    """
    planned = plan.planned()
    for run in planned:
        if not any(str(plan.folder) in value for value in run.changes.values()):  # else when those runs are there
            run.check_trainable()
    failed = make_runs(within_hours(planned, hours), plan.folder, tell, any_tree=any_tree)
    for seed in plan.seeds:
        for name, model in plan.table.runs:
            if (evaluation := plan.paper.evaluations.get(name)) is not None:
                _evaluate(plan, name, evaluation, model, seed, tell)
    return failed


def _evaluate(plan: TablePlan, name: str, evaluation: EvaluationOfPaper, model: str, seed: int, tell: Tell) -> None:
    """Evaluate models of a finished run, once."""
    path = plan.folder / f"{plan.run_name(name, model, seed)}.json"
    folders = plan.folders(model, seed)
    needed = [folders[name] for name, _ in plan.runs(seed) if name in folders]
    if path.exists() or not all(_is_finished(folder) for folder in needed):
        return
    tell(f"evaluation {path.stem}")
    run = RunFolder.open(folders[evaluation.run])
    models = read_run_models(run.path)
    titles = {label: models.titles.get(label, label) for label in evaluation.stages}
    names = [plan.opponent(name) for name in evaluation.opponents]
    opponents = tuple(_at(text, evaluation.temperature) for text in with_folders(names, folders))
    lines = tuple(Line(game, {OPPONENTS: opponents}) for game in evaluation.games)
    suite = Suite(name, "Games of a paper.", lines, evaluation.metrics, evaluation.episodes)
    final = Final(suite, Evaluator(evaluation.episodes, Key(seed).at("published", name), exact_budget=0), seed)
    own = {} if evaluation.temperature is None else {"temperature": evaluation.temperature}
    decoding = models.speaks.model_copy(update=own) if own else None
    write_json_once(path, lambda: _with_opponents(final.evaluated(run, titles, decoding), names))


def _at(opponent: str, temperature: float | None) -> str:
    """Name an opponent that is a model of a run with its temperature."""
    model = opponent.startswith("run:") and temperature is not None
    return language_player(opponent, temperature=temperature).name if model else opponent


def _with_opponents(data: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Name the opponents in an evaluation as the file of the paper does."""
    for row in (row for game in data["evaluation"]["games"] for row in game["players"]):
        for opponent, name in zip(row.get("opponents") or [], names, strict=False):
            opponent["opponent"] = name
    return data


def figures_of(plan: TablePlan) -> list[PublishedFigure]:
    """Return every printed figure of a table beside those of the runs that are finished."""
    read = cache(lambda name: _figures(plan.folder, name))
    return [
        replace(_figure(plan, row, column, printed, level, read), spread=spread)
        for row in plan.table.rows
        for column, printed, level, spread in zip(
            plan.table.columns, row.published, *(_each(row, row.chance), _each(row, row.spread)), strict=True
        )
    ]


def _each(row: PublishedRow, values: Sequence[T]) -> Sequence[T | None]:
    """Return one value for each column; None where the row has none."""
    return values or [None] * len(row.published)


def _figure(
    plan: TablePlan, row: PublishedRow, column: PublishedColumn, printed: str, level: float | None, read: Any
) -> PublishedFigure:
    if row.cannot:
        return PublishedFigure(row.label, column.name, printed, None, level, row.cannot)
    known = [figures for seed in plan.seeds_of(row) if (figures := read(plan.run_of(row, seed))) is not None]
    if not known:
        return PublishedFigure(row.label, column.name, printed, None, level, "No run is finished.")
    try:
        values = [column.factor * figure_at(figures, _path(plan, column.at, row)) for figures in known]
    except UnknownName as error:
        return PublishedFigure(row.label, column.name, printed, None, level, str(error))
    return PublishedFigure(
        row.label, column.name, printed, with_interval(values), _chance(plan, row, column, level, known)
    )


def _chance(
    plan: TablePlan, row: PublishedRow, column: PublishedColumn, level: float | None, known: list[Mapping[str, float]]
) -> float | None:
    """Return the chance level: the row's, the column's number, or the mean of a figure of the runs."""
    if level is not None:
        return level
    if not isinstance(column.chance, str):
        return column.chance
    path = _path(plan, column.chance, row)
    values = [figures[path] for figures in known if path in figures]
    return column.factor * sum(values) / len(values) if values else None


def _path(plan: TablePlan, template: str, row: PublishedRow) -> str:
    """Fill in the fields of a path, with the opponents of the scale."""
    unknown = [name for name in _FIELD.findall(template) if name not in row.at]
    if unknown:
        raise StratagemError(f"The row {row.label!r} lacks the field {unknown[0]!r} of the path {template!r}.")
    filled = _FIELD.sub(lambda name: str(row.at[name[1]]), template)
    return "/".join(map(plan.opponent, filled.split("/")))


def _figures(folder: Path, name: str) -> Mapping[str, float] | None:
    """Return the final figures of a run, or those of an evaluation; None where it is not finished."""
    if (path := folder / f"{name}.json").is_file():
        return dict(evaluation_figures(parse_json(read_small(path))))
    return final_figures(RunFolder.open(folder / name)) if _is_finished(folder / name) else None


def _is_finished(folder: Path) -> bool:
    return (folder / "run.json").is_file() and RunFolder.open(folder).status().state == "finished"
