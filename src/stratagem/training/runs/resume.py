"""Resuming from the newest valid checkpoint; later data are set aside.

The recipe, the shards and the metrics are compared with the checkpoint's digests. Shards and damaged checkpoints are
set aside, not removed; metrics are cut back. All of it can be interrupted and repeated, so a run may be killed while it
resumes, too.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.base.provenance import provenance, source
from stratagem.base.settings import Settings
from stratagem.training.runs.binding import ResumeWarning, changes, check_recipe, known_digests, rebind
from stratagem.training.runs.checkpoint import (
    NEWEST,
    Checkpoint,
    check_counted,
    checkpoint_folders,
    latest,
    newest_step,
    save_newest_step,
    shard_files,
)
from stratagem.training.runs.config_file import recipe_digest
from stratagem.training.runs.files import move, number_paths, remove_leftovers, write_file
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE, cut_metrics, damage, mend_metrics

NOTE = "resume.json"


def resume(run: RunFolder, recipe: Settings | None = None) -> Checkpoint | None:
    """Return the checkpoint to resume from, in a folder without later data; None where the run must start.

    To be called by the process that holds the run, with the recipe to train by.
    """
    check_recipe(run, recipe)
    remove_leftovers(run.path)
    start = _start(run)
    remarks = [] if start is None else [*changes(run), *_report_lost(run, start)]
    step = -1 if start is None else start.step
    later = [folder for number, folder in checkpoint_folders(run).items() if number > step]
    later += shard_files(run.record, start.shards if start else ())
    if start or later:
        remarks += _set_aside(run, later, start)
    cut_metrics(run, start.metrics if start else 0)
    if start is not None:
        save_newest_step(run, start.step)
    for sentence in remarks:
        warnings.warn(sentence, ResumeWarning, stacklevel=2)
    return start


def resume_by_force(run: RunFolder) -> None:
    """Bind a run to its present recipe, and let it start again where all of its checkpoints are gone."""
    if run.status().state == "running":
        raise StratagemError(f"Another process uses the run {run.path}: wait until it has ended, or stop it.")
    there = latest(run, digests=False)
    rebind(run, recipe_digest(run.config_data()), None if there is None else there.step, "force")
    if not checkpoint_folders(run):
        (run.path / NEWEST).unlink(missing_ok=True)


def _start(run: RunFolder) -> Checkpoint | None:
    """Return the newest valid checkpoint, if the data that it counts are there."""
    folders, start, saved = checkpoint_folders(run), latest(run), newest_step(run)
    if start is None:
        if folders:
            Checkpoint.open(folders[max(folders)])  # raises the error of the damaged checkpoint
        if saved is not None:
            raise BadRecord(
                f"The checkpoints of {run.path} are missing, and the last was of step {saved}: restore them, start in "
                "another folder, or add `force=True` to start again in this one."
            )
        return None
    if start.recipe and start.recipe not in known_digests(run):
        raise BadRecord(f"{start.folder} has another recipe than the run {run.path}: restore the run's own.")
    check_counted(run.record, start.shards, start.files, start.folder.name)
    return start


def _report_lost(run: RunFolder, start: Checkpoint) -> list[str]:
    """Report later checkpoints that are damaged, and one that was saved and is gone."""
    lost = {step: "damaged" for step in checkpoint_folders(run) if step > start.step}
    if (saved := newest_step(run)) is not None and saved > start.step:
        lost.setdefault(saved, "missing")
    going_on = f"the run continues from step {start.step}"
    return [f"The checkpoint of step {step} of {run.path} is {how}: {going_on}." for step, how in lost.items()]


def _set_aside(run: RunFolder, paths: Sequence[Path], start: Checkpoint | None) -> list[str]:
    """Move data that do not count into a new folder, with a note of the checkpoint and of the date.

    Metrics that differ from the checkpoint's count are copied there before they are mended; a sentence names them.
    """
    aside = run.set_aside / f"{max(number_paths(run.set_aside.glob('*'), ''), default=0) + 1:03d}"
    aside.mkdir(parents=True)
    step = -1 if start is None else start.step
    note = {"step": step, "at": datetime.now(UTC).isoformat(timespec="seconds"), **source(), "made_by": provenance()}
    write_file(aside / NOTE, json.dumps(note, indent=2) + "\n")
    for path in paths:
        move(path, aside / path.relative_to(run.path))
    if start is None or start.counted is None or not (wrong := damage(run, start.counted)):
        return []
    explanation = "empty lines stand in its place"
    if (run.path / FILE).is_file():
        shutil.copy2(run.path / FILE, aside / FILE)
        explanation = f"the damaged file is now in {aside}, and its readable lines are kept"
    mend_metrics(run, start.counted)
    return [f"{run.path / FILE} {wrong} that {start.folder.name} counts: {explanation}."]
