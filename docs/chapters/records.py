"""The record: the two tables that an evaluation, a tournament or a match writes with `--record`."""

from __future__ import annotations

from typing import get_args

import pyarrow as pa

import stratagem.play.store as store
from chapters.markdown import code, definition, notes, page, table
from stratagem.play.records import Decision, Episode, Purpose
from stratagem.players.base import How


def records() -> str:
    """The page."""
    hows, purposes = (", ".join(map(code, get_args(names))) for names in (How, Purpose))
    return page(
        "Records",
        definition(store) + " [Record and read](../how-to/record-and-read.md) shows how.",
        f"Shards lie in `FOLDER/episodes/` and `FOLDER/decisions/` under one number each, `000000.parquet` first. "
        f"Every file carries `stratagem_schema_version`, now {store.SCHEMA_VERSION}, in its metadata, and a file of "
        "another version is refused. A column may be null where its meaning says so.",
        "## episodes",
        definition(Episode),
        _columns(store.EPISODES, Episode),
        f"`purpose` is one of {purposes}.",
        "## decisions",
        definition(Decision) + " `episode` is the id of its episode.",
        _columns(store.DECISIONS, Decision),
        f"`how` is one of {hows}.",
    )


def _columns(schema: pa.Schema, row: type) -> str:
    meant = notes(row)
    rows = ((code(field.name), code(field.type), meant.get(field.name, "")) for field in schema)
    return table(("column", "type", "meaning"), rows)
