"""Files of the record's shards: those that a checkpoint counts, and those that a resume sets aside."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from pathlib import Path

from stratagem.errors import BadRecord
from stratagem.manifest import Entry, entry_of
from stratagem.play.schemas import REPEATABLE, SCHEMAS
from stratagem.runs.files import sync

_TABLES = ("episodes", *(name for name in SCHEMAS if name != "episodes"))
"""Tables of a shard; it counts while its episodes are there, so these are the first to be removed."""
Counted = dict[str, Entry]
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


def counted_files(record: Path, numbers: Collection[int], before: Mapping[str, Entry]) -> Counted:
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
