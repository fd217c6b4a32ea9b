"""Plan of a published table: the runs that it needs at a scale, and the size of the work.

The runs of all tables of a paper at one scale are in one folder, so that tables share what they have in common.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stratagem.sweeps.planned_run import PlannedRun
from stratagem.sweeps.reproduction.published import (
    EvaluationOfPaper,
    PublishedPaper,
    PublishedRow,
    PublishedTable,
    RunOfPaper,
    ScaleName,
    runs_in,
    with_folders,
)
from stratagem.training.estimate import RunEstimate, Speed
from stratagem.training.runs.config_file import toml_value
from stratagem.training.shipped import recipe_path

LEAST_SEEDS = 3
"""Number of seeds where the paper has fewer: two give hardly an interval."""


@dataclass(frozen=True)
class TablePlan:
    """Runs of one table at a scale."""

    file: Path
    """File of the published tables; paths of recipes are from its folder."""
    paper: PublishedPaper
    table: PublishedTable
    scale: ScaleName
    folder: Path
    """Folder of the runs."""
    seeds: tuple[int, ...]
    model: str = ""
    """Model in place of that of the scale; empty to keep it."""
    of_rows: bool = False
    """True to give a row with a number of seeds of its own as many; False to give all rows `seeds`."""

    @property
    def text(self) -> str:
        """Paper and table as the command takes them."""
        return f"{self.file.parent.name}:{self.table.id}"

    @property
    def differs(self) -> list[str]:
        """Differences from the paper, each a sentence."""
        model = [f"The model is {self.model}."] if self.model else []
        return [*self.table.differs, *self.paper.scales[self.scale].differs, *model, *self.paper.differs]

    def list_runs(self) -> list[PlannedRun]:
        """Return all runs, seed by seed, those that others start from before them."""
        found: dict[str, PlannedRun] = {}
        number = max([len(self.seeds), *(len(self.seeds_of(row)) for row in self.table.rows)])
        for seed in self.seeds if number == len(self.seeds) else range(number):
            for run, model in self.runs(seed):
                for planned in self._chain(run, model, seed):
                    if planned.first or planned.name not in found:
                        found[planned.name] = planned
        return list(found.values())

    def count_finished(self) -> int:
        """Return the number of its runs that are finished."""
        return sum(run.is_finished(self.folder) for run in self.list_runs())

    def seeds_of(self, row: PublishedRow) -> tuple[int, ...]:
        """Return the seeds of a row."""
        return tuple(range(max(row.seeds, LEAST_SEEDS))) if self.of_rows and row.seeds else self.seeds

    def runs(self, seed: int) -> list[tuple[str, str]]:
        """Return the runs of the rows with this seed, and of their evaluations, each with its model, each once."""
        named = list[tuple[str, str]]()
        rows = [row for row in self.table.rows if row.run and seed in self.seeds_of(row)]
        for run, model in dict.fromkeys((row.run, row.model) for row in rows):
            evaluation = self.paper.evaluations.get(run)
            named += [(name, model) for name in runs_of(evaluation)] if evaluation else [(run, model)]
        return list(dict.fromkeys((run, self._model(model)) for run, model in named))

    def run_of(self, row: PublishedRow, seed: int) -> str:
        """Return the name of the folder of a row's run, or of the file of its evaluation."""
        return self.run_name(row.run, row.model, seed)

    def run_name(self, run: str, model: str, seed: int) -> str:
        """Return the name of a run's folder; where the scale has one model for all, it has none in its name."""
        own = f"-{self._model(model)}" if self._has_models and self._model(model) else ""
        return f"{run}{own}-{seed}"

    def folders(self, model: str, seed: int) -> dict[str, Path]:
        """Return the folder of every run of the paper, by its name."""
        return {run: self.folder / self.run_name(run, model, seed) for run in self.paper.runs}

    def opponent(self, name: str) -> str:
        """Return the opponent that stands for one of the paper at this scale."""
        return self.paper.scales[self.scale].opponents.get(name, name)

    def _chain(self, name: str, model: str, seed: int) -> Iterator[PlannedRun]:
        run = self.paper.runs[name]
        for needed in run.needs:
            yield from (replace(planned, first=True) for planned in self._chain(needed, model, seed))
        yield self._run(name, run, model, seed)

    def _run(self, name: str, run: RunOfPaper, model: str, seed: int) -> PlannedRun:
        changes: dict[str, Any] = {
            **with_folders({**run.set, **run.scales.get(self.scale, {})}, self.folders(model, seed)),
            "seed": seed,
        }
        changes |= dict.fromkeys(self.paper.model_settings, self.model) if self.model else {}
        if run.after:
            changes["model"] = f"run:{self.folder / self.run_name(run.after, model, seed)}@{run.start}"
        recipes = (*run.recipes, *self._recipes(run, model))
        paths = tuple(recipe_path(recipe, self.file.parent) for recipe in recipes)
        written = {place: value if place == "model" else toml_value(value) for place, value in changes.items()}
        return PlannedRun(self.run_name(name, model, seed), paths, written)

    def _recipes(self, run: RunOfPaper, model: str) -> Sequence[str]:
        """Return the recipes of a run's model and of the scale."""
        own = self.paper.models[self._model(model)] if self._has_models else ()
        return (*own, *run.scale_recipes.get(self.scale, self.paper.scales[self.scale].recipes))

    def _model(self, model: str) -> str:
        """Return the name of a model; at a scale with one model for all, the empty name."""
        return (model or next(iter(self.paper.models))) if self._has_models else ""

    @property
    def _has_models(self) -> bool:
        """True where the paper's own models are trained."""
        return self.scale == "gpu"


def runs_of(evaluation: EvaluationOfPaper) -> list[str]:
    """Return the runs that an evaluation needs: that of its models, and those of its opponents."""
    return list(dict.fromkeys([evaluation.run, *runs_in(evaluation.opponents)]))


@dataclass(frozen=True)
class PlanSize:
    """Size of the work of several runs."""

    runs: int
    finished: int
    sampled_tokens: int
    trained_tokens: int
    bytes: int
    """Memory of the largest run; 0 where no size of a model is known."""
    hours: float | None
    """Hours of the runs that are not finished; None where the scale has no measured speeds."""
    unknown: tuple[str, ...] = ()
    """Models whose sizes are not known without a download."""


def size_of(plan: TablePlan) -> PlanSize:
    """Estimate the work of a plan from its recipes; no model is loaded."""
    from stratagem.algorithms.estimates import estimate_run

    planned = plan.list_runs()
    scale = plan.paper.scales[plan.scale]
    speed, estimates = Speed(scale.decode_speed, scale.learn_speed), dict[tuple[Any, ...], RunEstimate | None]()
    each = list[tuple[bool, dict[str, Any]]]()
    for run in planned:
        alone = replace(run, changes=of_base(run.changes))
        kind = (alone.recipes, tuple(item for item in alone.changes.items() if item[0] != "seed"))
        if kind not in estimates:
            estimates[kind] = estimate_run(alone.recipe())
        if (estimate := estimates[kind]) is not None:
            each.append((run.is_finished(plan.folder), estimate.data(speed)))
    seconds = [data["seconds"] for finished, data in each if not finished]
    return PlanSize(
        runs=len(planned),
        finished=plan.count_finished(),
        sampled_tokens=sum(data["sampled_tokens_per_step"] * data["steps"] for _, data in each),
        trained_tokens=sum(data["trained_tokens_per_step"] * data["steps"] + data["sft_tokens"] for _, data in each),
        bytes=max((memory["total"] for _, data in each for memory in data["memory"].values()), default=0),
        hours=None if None in seconds else sum(seconds) / 3600.0,
        unknown=tuple(dict.fromkeys(text for _, data in each for text in data["unknown"])),
    )


def of_base(changes: Mapping[str, str]) -> dict[str, str]:
    """Leave out the run that another starts from, which need not be there: it has the size of its base."""
    return {place: value for place, value in changes.items() if not (place == "model" and value.startswith("run:"))}


def begun_before(
    runs: Sequence[PlannedRun], until: float, clock: Callable[[], float] = time.monotonic
) -> Iterator[PlannedRun]:
    """Yield runs until a time of the clock; a run that was begun ends.

    With a time, workers make the runs of a seed together, and those of the next one after them.
    """
    after: list[PlannedRun | None] = [*runs[1:], None]
    for run, following in zip(runs, after, strict=True):
        if clock() > until:
            return
        new_seed = following is not None and following.changes["seed"] != run.changes["seed"]
        yield replace(run, first=run.first or (math.isfinite(until) and new_seed))
