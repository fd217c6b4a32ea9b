"""The record: the five tables that an evaluation, a tournament or a match writes with `--record`."""

from __future__ import annotations

import stratagem.playing.store as store
from chapters.markdown import code, definition, page, table
from stratagem.playing.card import FILE, ROWS, VALUES, column_notes
from stratagem.playing.schemas import READABLE, SCHEMA_VERSION, SCHEMAS


def records() -> str:
    """The page."""
    *first, last = (code(f"FOLDER/{name}/") for name in ROWS)
    folders = ", ".join(first), last
    return page(
        "Records",
        definition(store) + " [Record and read](../how-to/record-and-read.md) shows how.",
        f"Shards are in {folders[0]} and {folders[1]}, numbered from `000000.parquet`. The metadata of every file has "
        f"`stratagem_schema_version`, now {SCHEMA_VERSION}. "
        f"Versions {READABLE[0]} to {READABLE[-2]}, with fewer columns or other types, are read too. Any other version "
        f"is refused. A column may be null where its meaning says so. `FOLDER/{FILE}` is a dataset card with these "
        "tables, by which `datasets` finds them.",
        *(section for name in ROWS for section in _sections(name)),
    )


def _sections(name: str) -> tuple[str, ...]:
    """The sections about one table."""
    meant = column_notes()[name]
    rows = ((code(field.name), code(field.type), meant[field.name]) for field in SCHEMAS[name])
    return f"## {name}", ROWS[name], table(("column", "type", "meaning"), rows), VALUES[name]
