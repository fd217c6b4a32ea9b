"""Scores as rows of a table: CSV, JSON lines or a list in JSON, with the columns `item`, `system` and `score`.

Further columns are `cluster`, `repeat`, `measure` and `reason`. A row without a score and with a reason is an answer
that is missing for this reason. Without a column of systems, the file is one system.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

from stratagem.base.errors import BadRecord
from stratagem.connect.logs.base import (
    LogColumns,
    LogFile,
    LogFormat,
    LogScores,
    field_of,
    nothing_called,
    number_of,
    text_of_field,
)
from stratagem.measure.logs.scores import ItemScore

_DELIMITERS = (",", "\t", ";")
_WIDEST = 1 << 20
"""Largest number of characters of a cell."""


class TableRows(LogFormat):
    """Rows of a table."""

    label: ClassVar[str] = "CSV or JSON lines with item, system and score"

    def recognises(self, file: LogFile) -> bool:
        return bool(file.first_row) or isinstance(file.data, list) or file.path.suffix.casefold() in (".csv", ".tsv")

    def read(self, file: LogFile, columns: LogColumns) -> LogScores:
        score_column = columns.score or "score"
        rows: list[ItemScore] = []
        known: tuple[str, ...] = ()
        for number, row in _rows_of(file, columns):
            if not rows:
                known = tuple(map(str, row))
                _check_columns(file, row, columns)
            item = text_of_field(field_of(row, columns.item or "item"))
            if item is None:
                raise BadRecord(f"Row {number} of {file.path} has no item.")
            rows.append(
                ItemScore(
                    item=item,
                    system=text_of_field(field_of(row, columns.system or "system")) or file.path.stem,
                    score=number_of(field_of(row, score_column), f"Row {number} of {file.path}"),
                    measure=text_of_field(field_of(row, "measure")) or score_column,
                    cluster=text_of_field(field_of(row, columns.cluster or "cluster")),
                    repeat=text_of_field(field_of(row, columns.repeat or "repeat")) or "",
                    reason=text_of_field(field_of(row, "reason")) or "",
                )
            )
        if not rows:
            raise BadRecord(f"{file.path} has no rows.")
        named = columns.system or "system"
        return LogScores(tuple(rows), one_system=not {named, named.partition(".")[0]} & {*known})


def _check_columns(file: LogFile, row: Mapping[str, Any], columns: LogColumns) -> None:
    """Refuse a table without a column that is needed, or that the user named."""
    wanted = {"item": columns.item or "item", "score": columns.score or "score"}
    wanted |= {what: name for what in ("system", "cluster", "repeat") if (name := getattr(columns, what))}
    for what, name in wanted.items():
        if name not in row and (field_of(row, name) is None):
            raise nothing_called(what, name, row, file.path)


def _rows_of(file: LogFile, columns: LogColumns) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows with their numbers."""
    if file.path.suffix.casefold() in (".csv", ".tsv"):
        yield from _of_csv(file, columns)
    elif isinstance(file.data, list):
        for number, row in enumerate(file.data, 1):
            if not isinstance(row, Mapping):
                raise BadRecord(f"Entry {number} of {file.path} is no JSON object.")
            yield number, row
    else:
        yield from file.rows()


def _of_csv(file: LogFile, columns: LogColumns) -> Iterator[tuple[int, Mapping[str, Any]]]:
    csv.field_size_limit(_WIDEST)
    with file.text_file() as opened:
        try:
            first = opened.readline(_WIDEST)
            names: Sequence[str] = next(csv.reader([first], delimiter=_delimiter(first)), [])
            names = [name.strip() for name in names]
            if twice := [name for name in _columns_of(columns) if names.count(name) > 1]:
                raise BadRecord(f"{file.path} has several columns {twice[0]!r}: one of them needs another name.")
            reader = csv.DictReader(opened, fieldnames=names, delimiter=_delimiter(first))
            for number, row in enumerate(reader, 2):
                yield number, {str(name): value for name, value in row.items() if name is not None}
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadRecord(f"{file.path} is no CSV in UTF-8: {error}.") from error


def _columns_of(columns: LogColumns) -> list[str]:
    """Return the names of the columns that are read."""
    return [getattr(columns, one.name) or one.name for one in fields(columns)] + ["measure", "reason"]


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)
