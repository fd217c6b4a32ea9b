"""Checkpoints: a folder each, from which a run resumes as if it had never stopped.

A checkpoint appears whole, under its final name, with a manifest of its files. It is valid only while all of them match
the manifest; a damaged one is passed over for the one before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from stratagem.base.errors import BadRecord
from stratagem.base.files import parse_json, read_small
from stratagem.base.manifest import Entry, check_manifest, entry_of, write_manifest
from stratagem.playing.schemas import REPEATABLE, SCHEMAS
from stratagem.playing.store import shards
from stratagem.training.runs.binding import bound_digest
from stratagem.training.runs.files import new_folder, number_paths, remove_folder, sync, write_file
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import CountedMetrics, counted_metrics, sync_metrics
from stratagem.training.runs.state_files import load_state, save_state

_PREFIX, _ABOUT, _STATE, NEWEST = "step-", "checkpoint.json", "state", "newest.json"
VERSION = 2
"""Version of the format.

The first version is readable too; it had no digests of the files around a checkpoint.
"""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint on the disk."""

    folder: Path
    step: int
    shards: tuple[int, ...]
    """Shards of the record that were complete when it was saved; no others count."""
    metrics: int
    """Number of lines of metrics that count."""
    best: tuple[int, ...]
    """Steps of the best checkpoints so far."""
    files: Mapping[str, Entry]
    """Size and digest of each file of those shards."""
    counted: CountedMetrics | None
    """Metrics that count; None in checkpoints of the first version."""
    recipe: str
    """Digest of the recipe that the run was bound to."""

    @classmethod
    def open(cls, folder: Path, *, digests: bool = True) -> Self:
        """Open the checkpoint in a folder, if all of its files match its manifest."""
        check_manifest(folder, digests=digests)
        try:
            about = parse_json(read_small(folder / _ABOUT))
            if about["version"] not in (1, VERSION):
                known = f"versions 1 and {VERSION}"
                raise BadRecord(f"{folder} has version {about['version']}, and this program reads {known}.")
            return cls(
                folder=folder,
                step=about["step"],
                shards=tuple(about["shards"]),
                metrics=about["metrics"],
                best=tuple(about["best"]),
                files={name: (size, digest) for name, (size, digest) in about.get("files", {}).items()},
                counted=CountedMetrics(about["metrics"], *about["counted"]) if "counted" in about else None,
                recipe=about.get("recipe", ""),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadRecord(f"{folder} is incomplete: its {_ABOUT} cannot be read.") from error

    def state(self) -> dict[str, Any]:
        """Load the saved state; its tensors are on the CPU."""
        saved: dict[str, Any] = load_state(self.folder / _STATE)["saved"]
        return saved


def save_checkpoint(
    run: RunFolder,
    step: int,
    state: Mapping[str, Any],
    *,
    best: Sequence[int] = (),
    write: Callable[[Path], None] | None = None,
    loose: Collection[str] = (),
) -> Checkpoint:
    """Save the state of training with the present extent of the record and the metrics; later entries do not count.

    `state` is a tree of dicts, lists, numbers and tensors. `write` puts
    more files into the folder, such as weights; the files in `loose` may be edited by people and are checked by
    their readers. `best` are the steps of checkpoints to keep, perhaps including this one.
    """
    before = latest(run, digests=False)
    about = _about(run, step, sorted(best), before.files if before else {})

    def fill(folder: Path) -> None:
        if write is not None:
            write(folder)
        (folder / _STATE).mkdir()
        save_state({"saved": dict(state)}, folder / _STATE)
        (folder / _ABOUT).write_text(json.dumps(about) + "\n", encoding="utf-8")
        write_manifest(folder, besides=loose)

    sync_metrics(run)
    sync_shards(run.record, before.shards if before else ())
    new_folder(run.checkpoints / f"{_PREFIX}{step:06d}", fill)
    save_newest_step(run, step)
    return Checkpoint.open(run.checkpoints / f"{_PREFIX}{step:06d}", digests=False)


def _about(run: RunFolder, step: int, best: list[int], before: Mapping[str, Entry]) -> dict[str, Any]:
    """Describe a checkpoint and the files around it."""
    played, (lines, size, digest) = shards(run.record), counted_metrics(run)
    return {
        "version": VERSION,
        "step": step,
        "shards": played,
        "files": counted_files(run.record, set(played), before),
        "metrics": lines,
        "counted": [size, digest],
        "best": best,
        "recipe": bound_digest(run),
    }


def save_newest_step(run: RunFolder, step: int) -> None:
    """Note the step of the newest checkpoint beside the checkpoints, so that its loss is detected."""
    write_file(run.path / NEWEST, json.dumps({"step": step}) + "\n")


def newest_step(run: RunFolder) -> int | None:
    """Return the step of the newest checkpoint that was saved, even if it is gone; None where there was none."""
    try:
        step = parse_json(read_small(run.path / NEWEST))["step"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        problem = f"{run.path / NEWEST} is damaged: remove it if the checkpoints are there."
        raise BadRecord(problem) from error
    return int(step)


def checkpoint_folders(run: RunFolder) -> dict[int, Path]:
    """Return the folders of all checkpoints, whole or not, by step, in order."""
    return number_paths(run.checkpoints.glob(f"{_PREFIX}*"), _PREFIX)


def latest(run: RunFolder, *, digests: bool = True) -> Checkpoint | None:
    """Return the newest valid checkpoint; None where there is none."""
    return next(_valid(run, digests), None)


def keep(run: RunFolder, last: int) -> None:
    """Remove all checkpoints but the last few and the best; without a valid one, remove none.

    To be called after a save, and after a resume, since the run may have been killed between the two.
    """
    if last < 1:
        raise ValueError("the newest checkpoint is always kept")
    valid = list(_valid(run, digests=False))
    wanted = {checkpoint.step for checkpoint in valid[:last]} | {step for newest in valid[:1] for step in newest.best}
    for step, folder in checkpoint_folders(run).items():
        if wanted and step not in wanted:
            remove_folder(folder)


def _valid(run: RunFolder, digests: bool) -> Iterator[Checkpoint]:
    """Yield the valid checkpoints, the newest first."""
    for folder in reversed(checkpoint_folders(run).values()):
        with suppress(BadRecord):
            yield Checkpoint.open(folder, digests=digests)


_TABLES = ("episodes", *(name for name in SCHEMAS if name != "episodes"))
"""Tables of a shard; it counts while its episodes are there, so these are the first to be removed."""
CountedFiles = dict[str, Entry]
"""Size and digest of each counted file of the record, by its relative path."""


def shard_files(record: Path, known: Container[int]) -> list[Path]:
    """Return the files of all shards but the known ones, whether whole or not."""
    paths = [path for name in _TABLES for path in sorted((record / name).glob("*.parquet"))]
    return [path for path in paths if path.stem.isdecimal() and int(path.stem) not in known]


def sync_shards(record: Path, known: Container[int]) -> None:
    """Wait until all shards but the known ones are on the disk."""
    paths = shard_files(record, known)
    sync(*paths, *{path.parent for path in paths})
    if paths:
        sync(record, record.parent)


def counted_files(record: Path, numbers: Collection[int], before: Mapping[str, Entry]) -> CountedFiles:
    """Return the sizes and digests of the shards of these numbers; known ones are not computed again."""
    paths = [path for path in shard_files(record, ()) if int(path.stem) in numbers and path.parent.name in REPEATABLE]
    names = {path.relative_to(record).as_posix(): path for path in paths}
    return {name: before.get(name) or entry_of(path) for name, path in names.items()}


def check_counted(record: Path, numbers: Collection[int], counted: Mapping[str, Entry], by: str) -> None:
    """Refuse a record in which a counted shard is missing or changed."""
    wanted = {f"episodes/{number:06d}.parquet": None for number in numbers} | dict(counted)
    for name, entry in wanted.items():
        path = record / name
        if not path.is_file():
            raise BadRecord(f"{path} is missing, and {by} needs it: restore it, or start again in another folder.")
        if entry is not None and entry_of(path) != entry:
            raise BadRecord(f"{path} has changed since {by} was saved: restore it, or start again in another folder.")
