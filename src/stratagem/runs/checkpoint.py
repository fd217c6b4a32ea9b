"""Checkpoints: a folder each, from which a run goes on as if it had never stopped.

A checkpoint appears whole, under its final name, with a manifest of its files. It counts only while all of them are as
the manifest says, so a damaged one is passed over for the one before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from stratagem.errors import BadRecord
from stratagem.play.store import shards
from stratagem.runs.files import new_folder, numbered, remove_folder
from stratagem.runs.folder import RunFolder
from stratagem.runs.manifest import check_manifest, write_manifest
from stratagem.runs.metrics import count_metrics, sync_metrics
from stratagem.runs.random_state import random_state, restore_random
from stratagem.runs.shard_files import sync_shards
from stratagem.runs.state_files import load_state, save_state

_PREFIX, _ABOUT, _STATE = "step-", "checkpoint.json", "state"
_VERSION = 1


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint on the disk."""

    folder: Path
    step: int
    shards: tuple[int, ...]
    """Of the record: those that were there when it was saved, and no others, count."""
    metrics: int
    """How many lines of metrics count."""
    best: tuple[int, ...]
    """The steps whose checkpoints were the best so far, by whatever the run goes by."""

    @classmethod
    def open(cls, folder: Path, *, digests: bool = True) -> Self:
        """The checkpoint in a folder, if all of its files are as they were written."""
        check_manifest(folder, digests=digests)
        try:
            about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
            if about["version"] != _VERSION:
                raise BadRecord(f"{folder} has version {about['version']}, and this program reads version {_VERSION}.")
            return cls(folder, about["step"], tuple(about["shards"]), about["metrics"], tuple(about["best"]))
        except (ValueError, TypeError, KeyError) as error:
            raise BadRecord(f"{folder} is not whole: its {_ABOUT} cannot be read.") from error

    def state(self) -> dict[str, Any]:
        """What was saved in it; its tensors are on the CPU."""
        return self._load()["saved"]

    def restore(self) -> dict[str, Any]:
        """The same, and torch draws on from where it was."""
        loaded = self._load()
        restore_random(loaded["random"])
        return loaded["saved"]

    def _load(self) -> dict[str, dict[str, Any]]:
        loaded: dict[str, dict[str, Any]] = load_state(self.folder / _STATE)
        return loaded


def save_checkpoint(
    run: RunFolder,
    step: int,
    state: Mapping[str, Any],
    *,
    best: Sequence[int] = (),
    write: Callable[[Path], None] | None = None,
    loose: Collection[str] = (),
) -> Checkpoint:
    """Save all that later steps depend on; what was played and measured so far counts, and what comes after does not.

    `state` is a tree of dicts, lists, numbers and tensors, to which torch's random state is added; `write` puts more
    into the folder, such as weights, of which `loose` are files that people may edit, and that who reads them judges.
    `best` are the steps of checkpoints, this one's perhaps among them, to be kept.
    """
    played = shards(run.record)
    about = {"version": _VERSION, "step": step, "shards": played, "metrics": count_metrics(run), "best": sorted(best)}

    def fill(folder: Path) -> None:
        if write is not None:
            write(folder)
        (folder / _STATE).mkdir()
        save_state({"saved": dict(state), "random": random_state()}, folder / _STATE)
        (folder / _ABOUT).write_text(json.dumps(about) + "\n", encoding="utf-8")
        write_manifest(folder, besides=loose)

    before = latest(run, digests=False)
    sync_metrics(run)
    sync_shards(run.record, before.shards if before else ())
    new_folder(run.checkpoints / f"{_PREFIX}{step:06d}", fill)
    return Checkpoint.open(run.checkpoints / f"{_PREFIX}{step:06d}", digests=False)


def checkpoint_folders(run: RunFolder) -> dict[int, Path]:
    """The folders of all checkpoints, whole or not, by step, in order."""
    return numbered(run.checkpoints.glob(f"{_PREFIX}*"), _PREFIX)


def latest(run: RunFolder, *, digests: bool = True) -> Checkpoint | None:
    """The newest checkpoint that is whole; None where there is none."""
    return next(_whole(run, digests), None)


def best_checkpoints(run: RunFolder) -> list[Checkpoint]:
    """Those that the newest whole checkpoint calls best, in order; the damaged among them are left out."""
    whole = {checkpoint.step: checkpoint for checkpoint in _whole(run, True)}
    newest = whole[max(whole)] if whole else None
    return [whole[step] for step in (newest.best if newest else ()) if step in whole]


def keep(run: RunFolder, last: int) -> None:
    """Remove all checkpoints but the last few, and those that the newest calls best; where none is whole, none goes.

    To be called after a save, and after a resume, since the run may have been killed between the two.
    """
    if last < 1:
        raise ValueError("the newest checkpoint is always kept")
    whole = list(_whole(run, digests=False))
    wanted = {checkpoint.step for checkpoint in whole[:last]} | {step for one in whole[:1] for step in one.best}
    for step, folder in checkpoint_folders(run).items():
        if wanted and step not in wanted:
            remove_folder(folder)


def _whole(run: RunFolder, digests: bool) -> Iterator[Checkpoint]:
    """The checkpoints that are whole, the newest first."""
    for folder in reversed(checkpoint_folders(run).values()):
        with suppress(BadRecord):
            yield Checkpoint.open(folder, digests=digests)
