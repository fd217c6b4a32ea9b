"""Maker of planned runs: each is begun, resumed, or skipped. Several processes may share a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from stratagem.algorithms.catalogue import bound, recipe_of
from stratagem.errors import StratagemError
from stratagem.provenance import source
from stratagem.runs.folder import RunFolder
from stratagem.runs.lock import Locked
from stratagem.sweeps.planned_run import PlannedRun

Tell = Callable[[str], None]
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
        bound(recipe_of(run), run).train()
    except Locked:  # another process began with it after its status was read
        return "held"
    return "made"


def make_runs(runs: Iterable[PlannedRun], folder: Path, tell: Tell = lambda _: None) -> dict[str, StratagemError]:
    """Make all runs that can be made, and return the errors of the others by name.

    The runs may come from a generator that reads the results of earlier runs.
    """
    check_clean(source())
    failed = {}
    for planned in runs:
        command = planned.command(folder)
        if not planned.is_finished(folder):
            tell(command)
        try:
            outcome = make_run(planned, folder, command)
        except StratagemError as error:
            failed[planned.name] = error
            tell(f"{planned.name} failed: {error}")
        else:
            if outcome != "made":
                tell(skipped(planned, outcome))
    return failed


def skipped(planned: PlannedRun, outcome: Literal["finished", "held"]) -> str:
    """Return the message on a run that is not made."""
    reason = "it was finished before" if outcome == "finished" else "another process is at work on it"
    return f"{planned.name} is skipped: {reason}."


def _begin(planned: PlannedRun, folder: Path, command: str) -> RunFolder:
    """Create the folder of a run; where another process has just created it, take that."""
    recipe, path = planned.recipe(), folder / planned.name
    bound(recipe, RunFolder(path))  # refused where it cannot be trained, before there is a folder
    try:
        return RunFolder.create(path, recipe, recipe.seed, command)
    except StratagemError:
        if (run := planned.existing(folder)) is None:
            raise
        return run
