"""Maker of a published table: its runs as one resumable series, and each figure beside the printed one."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.base.files import finite, parse_json, read_small
from stratagem.games.key import Key
from stratagem.language.models.run_models import read_run_models
from stratagem.measure.matchups import Evaluator
from stratagem.measure.statistics import Estimate, with_interval
from stratagem.measure.suites import OPPONENTS, Suite, SuiteLine
from stratagem.players.language import language_player
from stratagem.sweeps.reproduction.published import (
    EvaluationOfPaper,
    PublishedColumn,
    PublishedRow,
    printed_value,
    with_folders,
)
from stratagem.sweeps.reproduction.run_figures import evaluation_figures, figure_at, final_figures
from stratagem.sweeps.reproduction.table_plan import TablePlan, begun_before, runs_of
from stratagem.sweeps.run_maker import Tell, make_runs
from stratagem.training.evaluation import Final
from stratagem.training.runs.files import write_json_once
from stratagem.training.runs.folder import RunFolder

T = TypeVar("T")


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
    """Reason why there is no figure of a run, or of some."""
    spread: tuple[float, float] | None = None
    """Range in which a figure of one seed is expected; None where the paper's file gives none."""
    compared: bool = True
    """False where the printed figure is of other games or opponents."""

    @property
    def is_outside(self) -> bool:
        """True where the figure here is outside its expected range, or is missing although a run should give it."""
        if self.spread is None:
            return False
        return self.here is None or not self.spread[0] <= self.here.mean <= self.spread[1]

    @property
    def difference(self) -> float | None:
        """Figure here less the printed one."""
        printed = printed_value(self.published)
        return None if self.here is None or printed is None or not self.compared else self.here.mean - printed

    def to_json(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        here = None if self.here is None else finite(asdict(self.here))
        own = {"row": self.row, "column": self.column, "published": self.published, "here": here}
        expected = {"spread": self.spread, "is_outside": self.is_outside} if self.spread else {}
        return {**own, "difference": self.difference, "chance": self.chance, "why_not": self.why_not, **expected}


def make_table(
    plan: TablePlan, tell: Tell, *, until: float = math.inf, any_tree: bool = False
) -> dict[str, StratagemError]:
    """Make the missing runs and evaluations of a table, and return the errors of those that failed, by name.

    No run and no evaluation is begun after the time `until` of the monotonic clock.
    """
    planned = plan.list_runs()
    for run in planned:
        if not any(str(plan.folder) in value for value in run.changes.values()):  # else when those runs are there
            run.check_trainable()
    failed = make_runs(begun_before(planned, until), plan.folder, tell, any_tree=any_tree)
    for row in plan.table.rows:
        evaluation = plan.paper.evaluations.get(row.run)
        for seed in plan.seeds_of(row) if evaluation else ():
            if evaluation and time.monotonic() < until:
                try:
                    _evaluate(plan, row.run, evaluation, row.model, seed, tell)
                except StratagemError as error:
                    failed[plan.run_of(row, seed)] = error
    return failed


def _evaluate(plan: TablePlan, name: str, evaluation: EvaluationOfPaper, model: str, seed: int, tell: Tell) -> None:
    """Evaluate models of a finished run, once."""
    path = plan.folder / f"{plan.run_name(name, model, seed)}.json"
    folders = plan.folders(model, seed)
    if not all(_is_finished(folders[needed]) for needed in runs_of(evaluation)):
        return
    asked = {**evaluation.model_dump(mode="json"), "opponents": [plan.opponent(name) for name in evaluation.opponents]}
    if path.exists():
        _check_asked(path, asked)
        return
    tell(f"evaluation {path.stem}")
    run = RunFolder.open(folders[evaluation.run])
    models = read_run_models(run.path)
    titles = {label: models.titles.get(label, label) for label in evaluation.stages}
    names = [plan.opponent(name) for name in evaluation.opponents]
    opponents = tuple(_at(text, evaluation.temperature) for text in with_folders(names, folders))
    lines = tuple(SuiteLine(game, {OPPONENTS: opponents}) for game in evaluation.games)
    suite = Suite(name, "Games of a paper.", lines, evaluation.metrics, evaluation.episodes)
    final = Final(suite, Evaluator(evaluation.episodes, Key(seed).at("published", name), exact_budget=0), seed)
    own = {} if evaluation.temperature is None else {"temperature": evaluation.temperature}
    decoding = models.speaks.model_copy(update=own) if own else None
    write_json_once(
        path, lambda: {"asked": asked, **_with_opponents(final.evaluate_models(run, titles, decoding), names)}
    )


def _check_asked(path: Path, asked: Mapping[str, Any]) -> None:
    """Refuse an evaluation that was made with other settings, or cannot be read."""
    try:
        known = parse_json(read_small(path)).get("asked")
    except (OSError, ValueError, AttributeError) as error:
        raise StratagemError(f"{path} cannot be read: remove it, and the same command makes it anew.") from error
    if known != asked:
        raise StratagemError(
            f"The evaluation {path.stem} was made with other settings than the table has now: change them back, or "
            f"remove {path}."
        )


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


def figures_of(plan: TablePlan, failed: Collection[str] = ()) -> list[PublishedFigure]:
    """Return every printed figure of a table beside those of the runs that are finished, and have not failed."""
    read = cache(lambda name: None if name in failed else _figures(plan.folder, name))
    return [
        replace(
            find_figure(plan, row, column, printed, level, read),
            spread=spread,
            compared=row.compared and column.compared,
        )
        for row in plan.table.rows
        for column, printed, level, spread in zip(
            plan.table.columns, row.published, *(_each(row, row.chance), _each(row, row.spread)), strict=True
        )
    ]


def _each(row: PublishedRow, values: Sequence[T]) -> Sequence[T | None]:
    """Return one value for each column; None where the row has none."""
    return values or [None] * len(row.published)


def find_figure(
    plan: TablePlan, row: PublishedRow, column: PublishedColumn, printed: str, level: float | None, read: Any
) -> PublishedFigure:
    """Return the figure of our runs for a printed cell."""
    if row.cannot:
        return PublishedFigure(row.label, column.name, printed, None, level, row.cannot)
    known = [figures for seed in plan.seeds_of(row) if (figures := read(plan.run_of(row, seed))) is not None]
    if not known:
        return PublishedFigure(row.label, column.name, printed, None, level, "No run is finished.")
    try:
        values = [column.factor * figure_at(figures, _path(plan, column.at, row)) for figures in known]
    except UnknownName as error:
        return PublishedFigure(row.label, column.name, printed, None, level, str(error))
    defined = [value for value in values if math.isfinite(value)]
    lost = len(values) - len(defined)
    why_not = f"It is undefined in {lost} of {len(values)} runs, which do not count." if lost else ""
    here, chance = with_interval(defined) if defined else None, _chance(plan, row, column, level, known)
    return PublishedFigure(row.label, column.name, printed, here, chance, why_not)


def _chance(
    plan: TablePlan, row: PublishedRow, column: PublishedColumn, level: float | None, known: list[Mapping[str, float]]
) -> float | None:
    """Return the chance level: the row's, the column's number, or the mean of a figure of the runs."""
    if level is not None:
        return level
    if not isinstance(column.chance, str):
        return column.chance
    path = _path(plan, column.chance, row)
    values = [figures[path] for figures in known if math.isfinite(figures.get(path, math.nan))]
    return column.factor * sum(values) / len(values) if values else None


def _path(plan: TablePlan, template: str, row: PublishedRow) -> str:
    """Fill in the fields of a path, with the opponents of the scale."""
    return "/".join(map(plan.opponent, plan.paper.path(template, row).split("/")))


def _figures(folder: Path, name: str) -> Mapping[str, float] | None:
    """Return the final figures of a run, or those of an evaluation; None where it is not finished."""
    if (path := folder / f"{name}.json").is_file():
        return dict(evaluation_figures(parse_json(read_small(path))))
    return final_figures(RunFolder.open(folder / name)) if _is_finished(folder / name) else None


def _is_finished(folder: Path) -> bool:
    return (folder / "run.json").is_file() and RunFolder.open(folder).status().state == "finished"
