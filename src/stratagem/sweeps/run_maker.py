"""Maker of planned runs: each is begun, resumed, or skipped. Several processes may share a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from stratagem.algorithms.catalogue import bound, check_new, recipe_of
from stratagem.algorithms.machine_choices import settle_here
from stratagem.base.errors import StratagemError, WriteFailed
from stratagem.base.file_modules import broken_files
from stratagem.base.files import telling_below
from stratagem.base.lock import LockHeld
from stratagem.base.provenance import source
from stratagem.language.engines.remote.terms import ServerFailed
from stratagem.playing.workers.base import Workers
from stratagem.playing.workers.plan import current
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.training.runs.folder import RunFolder

Tell = Callable[[str], None]
ENDING = (ServerFailed, WriteFailed)
"""Errors that the next run would meet, too."""
Outcome = Literal["made", "finished", "held"]
"""`made` now, `finished` before, or `held` by another process."""


def check_clean(now: Mapping[str, Any], otherwise: str = "run a clone of its repository") -> None:
    """Refuse a program that is not one clean commit; every figure names the commit that made it."""
    if now["commit"] is None:
        raise StratagemError(f"Runs are bound to a commit, and git does not keep this program: {otherwise}.")
    if now["dirty"]:
        raise StratagemError("Runs are bound to a commit, and this tree differs from its own: commit it first.")


def make_run(planned: PlannedRun, folder: Path, command: str) -> Outcome:
    """Begin a run or resume it; skip it if it is finished, or if another process is at work on it."""
    planned.check_settings(folder)
    run = planned.existing(folder) or _begin(planned, folder, command)
    match run.status().state:
        case "finished":
            return "finished"
        case "running":
            return "held"
    try:
        with telling_below(run.path):
            bound(recipe_of(run), run).train()
    except LockHeld:  # another process began with it after its status was read
        return "held"
    return "made"


def make_runs(
    runs: Iterable[PlannedRun], folder: Path, tell: Tell = lambda _: None, *, any_tree: bool = False
) -> dict[str, StratagemError]:
    """Make all runs that can be made, by the workers of the plan, and return the errors of the others by name.

    The runs may come from a generator that reads the results of a `first` run. With `any_tree` the program need not be
    a clean commit.
    """
    if not any_tree:
        check_clean(source())
    failed: dict[str, StratagemError] = {}
    for some in waves(runs, current().workers):
        for planned in some:
            if not planned.is_finished(folder):
                tell(planned.command(folder))
        for planned, outcome in made_by_workers(some, folder, {run.name: run.command(folder) for run in some}):
            if isinstance(outcome, ENDING):
                raise outcome
            if isinstance(outcome, StratagemError):
                failed[planned.name] = outcome
                tell(f"{planned.name} failed: {outcome}")
            elif outcome != "made":
                tell(skip_message(planned, outcome))
    return failed


def waves(runs: Iterable[PlannedRun], workers: Workers) -> Iterator[list[PlannedRun]]:
    """Cut the runs into those that can be made at the same time; in this process, each alone."""
    wave: list[PlannedRun] = []
    for planned in runs:
        wave.append(planned)
        if planned.first or not workers.separate:
            yield wave
            wave = []
    if wave:
        yield wave


def made_by_workers(
    runs: Sequence[PlannedRun], folder: Path, commands: Mapping[str, str]
) -> Iterator[tuple[PlannedRun, Outcome | StratagemError]]:
    """Make runs by the workers of the plan, and yield each with its outcome or its error, as they end."""
    units = [_Unit(run, folder, commands[run.name]) for run in runs]
    for index, outcome in current().workers.run(_attempt, units):
        yield runs[index], outcome


class _Unit(NamedTuple):
    """Arguments of `make_run`."""

    planned: PlannedRun
    folder: Path
    command: str


def _attempt(unit: _Unit) -> Outcome | StratagemError:
    try:
        with broken_files():
            return make_run(*unit)
    except StratagemError as error:
        return error


def skip_message(planned: PlannedRun, outcome: Literal["finished", "held"]) -> str:
    """Return the message on a run that is not made."""
    reason = "it was finished before" if outcome == "finished" else "another process is at work on it"
    return f"{planned.name} is skipped: {reason}."


def _begin(planned: PlannedRun, folder: Path, command: str) -> RunFolder:
    """Create the folder of a run; where another process has just created it, take that."""
    recipe, path = planned.recipe(), folder / planned.name
    check_new(recipe, RunFolder(path))  # refused where it cannot be trained, before there is a folder
    try:
        return RunFolder.create(path, settle_here(recipe)[0], recipe.seed, command)
    except StratagemError:
        if (run := planned.existing(folder)) is None:
            raise
        return run
