"""Going on from the newest whole checkpoint: whatever came after it is made not to have happened.

Shards and damaged checkpoints are set aside, not removed; metrics are cut back. All of it can be broken off and begun
again, so a run may be killed while it resumes, too.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from stratagem.provenance import provenance, source
from stratagem.runs.checkpoint import Checkpoint, checkpoint_folders, latest
from stratagem.runs.files import move, numbered, remove_leftovers, write_file
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import cut_metrics
from stratagem.runs.shard_files import shard_files

NOTE = "resume.json"


def resume(run: RunFolder) -> Checkpoint | None:
    """The checkpoint to go on from, in a folder that holds nothing later; None where the run must begin.

    To be called by who is at work on the run.
    """
    remove_leftovers(run.path)
    folders = checkpoint_folders(run)
    start = latest(run)
    if folders and start is None:
        Checkpoint.open(folders[max(folders)])  # which says what is wrong with it
    step = -1 if start is None else start.step
    later = [folder for number, folder in folders.items() if number > step]
    later += shard_files(run.record, start.shards if start else ())
    if start or later:
        _set_aside(run, later, step)
    cut_metrics(run, start.metrics if start else 0)
    return start


def _set_aside(run: RunFolder, paths: list[Path], step: int) -> None:
    """Move what counts no more into a new folder, with a note of what the run goes on with, and from where."""
    aside = run.set_aside / f"{max(numbered(run.set_aside.glob('*'), ''), default=0) + 1:03d}"
    aside.mkdir(parents=True)
    note = {"step": step, "at": datetime.now(UTC).isoformat(timespec="seconds"), **source(), "made_by": provenance()}
    write_file(aside / NOTE, json.dumps(note, indent=2) + "\n")
    for path in paths:
        move(path, aside / path.relative_to(run.path))
