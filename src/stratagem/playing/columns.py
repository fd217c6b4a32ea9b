"""Checks of a record's columns: their types, and nulls only where they have a meaning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

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
    """Refuse episodes whose columns by seat are not all of the same seats."""
    lists = {name: table[name].combine_chunks() for name in (*_BY_SEAT, "rounds") if name in table.column_names}
    seats = pc.list_value_length(lists["players"])
    same = all(pc.list_value_length(lists[name]).equals(seats) for name in _BY_SEAT)
    if not same or not _are_slots(lists["slots"], seats):
        raise BadRecord(f"{path} has an episode whose players, slots and payoffs are not of the same seats.")
    if "rounds" in lists:
        rounds = lists["rounds"]
        if not pc.list_value_length(rounds.flatten()).equals(seats.take(pc.list_parent_indices(rounds))):
            raise BadRecord(f"{path} has an episode with a round that does not pay every seat.")


def _are_slots(slots: pa.ListArray, seats: pa.Array) -> bool:
    """Return whether each list has all numbers below its length; lists and lengths are known to agree.

    No number of Python is compared: to take one, Arrow loads pandas where it is installed.
    """
    owner, values = pc.list_parent_indices(slots), slots.flatten()
    if not len(values):
        return True
    below = pc.all(pc.less(values, seats.take(owner))).as_py()
    places = pc.add(slots.offsets.take(owner), values)
    return bool(below and pc.min(values).as_py() >= 0 and pc.count_distinct(places).as_py() == len(values))
