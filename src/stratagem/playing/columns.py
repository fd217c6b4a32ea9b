"""Checks of a record's columns: their types, and nulls only where they have a meaning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from stratagem.base.errors import BadRecord
from stratagem.playing.schemas import EARLIER_TYPES, SCHEMA_VERSION, SCHEMAS

NULLABLE = frozenset(
    {
        "decisions.action",
        "decisions.said",
        "decisions.advantage",
        "episodes.pasts[].last",
        "episodes.stakes[]",
        "episodes.signals[].rounds[][]",
    }
)
"""Columns that may hold nulls: no action, no advantage, no stakes, a signal without a meaning."""
_BY_SEAT = ("players", "slots", "payoffs", "num_decisions", "num_illegal")


def check_types(path: Path, name: str, schema: pa.Schema, version: int) -> None:
    """Refuse a file with a column of another type than its version has."""
    earlier = EARLIER_TYPES.get(name, {}) if version < SCHEMA_VERSION else {}
    for field in SCHEMAS[name]:
        if field.name not in schema.names or (actual := schema.field(field.name).type) == field.type:
            continue
        if actual != earlier.get(field.name):
            raise BadRecord(f"{path} has a column {field.name} of type {actual}, and it should be {field.type}.")


def as_now(name: str, table: pa.Table) -> pa.Table:
    """Return a table with the present types of its columns."""
    for column in EARLIER_TYPES.get(name, {}):
        field = SCHEMAS[name].field(column)
        if column in table.column_names and not table[column].type.equals(field.type):
            place = table.column_names.index(column)
            table = table.set_column(place, field, table[column].cast(field.type))
    return table


def check_values(path: Path, name: str, table: pa.Table) -> None:
    """Refuse a table with nulls in other columns, or whose episodes differ between seats."""
    for column in table.column_names:
        if column in SCHEMAS[name].names:
            place = f"{name}.{column}"
            for inner in _with_nulls(place, table[column].combine_chunks()):
                raise BadRecord(f"{path} has nothing in {inner.partition('.')[2]}, where something must stand.")
    if name == "episodes" and set(_BY_SEAT) <= set(table.column_names):
        _check_seats(path, table)


def _with_nulls(place: str, array: pa.Array) -> Iterator[str]:
    """Yield the positions of disallowed nulls in a column."""
    if array.null_count and place not in NULLABLE:
        yield place
    if pa.types.is_list(array.type):
        yield from _with_nulls(f"{place}[]", array.flatten())
    elif pa.types.is_struct(array.type):
        whole = array.drop_null()
        for number, field in enumerate(array.type):
            yield from _with_nulls(f"{place}.{field.name}", whole.field(number))


def _check_seats(path: Path, table: pa.Table) -> None:
    columns = [table[name].to_pylist() for name in _BY_SEAT]
    for players, slots, *others in zip(*columns, strict=True):
        if sorted(slots) != list(range(len(players))) or any(len(other) != len(players) for other in others):
            raise BadRecord(f"{path} has an episode whose players, slots and payoffs are not of the same seats.")
    rounds = table["rounds"].to_pylist() if "rounds" in table.column_names else [()] * len(table)
    if any(len(payoffs) != len(players) for players, rows in zip(columns[0], rounds, strict=True) for payoffs in rows):
        raise BadRecord(f"{path} has an episode with a round that does not pay every seat.")
