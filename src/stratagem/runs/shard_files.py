"""The record's shards as files: what a checkpoint waits for, and what a resume sets aside."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from stratagem.play.schemas import SCHEMAS
from stratagem.runs.files import sync

_TABLES = ("episodes", *(name for name in SCHEMAS if name != "episodes"))
"""A shard counts while its episodes are there, so these are the first to go."""


def shard_files(record: Path, known: Container[int]) -> list[Path]:
    """The files of all shards but the known ones, whether whole or not."""
    paths = [path for name in _TABLES for path in sorted((record / name).glob("*.parquet"))]
    return [path for path in paths if path.stem.isdecimal() and int(path.stem) not in known]


def sync_shards(record: Path, known: Container[int]) -> None:
    """Wait until all shards but the known ones are on the disk."""
    paths = shard_files(record, known)
    sync(*paths, *{path.parent for path in paths})
    if paths:
        sync(record, record.parent)
