"""Size that a Parquet file has once it is read, found before it is read: a small file can stand for terabytes.

A text that is repeated is stored once, and equal numbers as one number with a count. So neither the size of the file
nor the sizes that it declares bound the memory that its reader needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from stratagem.base.errors import BadRecord

_MAGIC = b"PAR1"
_LARGEST_END = 1 << 26
"""Largest number of bytes of the description at the end of a file."""
_LARGEST_HEADER = 1 << 16
"""Number of bytes in which the header of a page ends; it may hold the smallest and the largest value."""
_DEEPEST, _MOST = 12, 2_000_000
"""Largest depth of structures, and number of values in them."""
_TEXT, _DICTIONARY = 6, 2
"""Numbers of the type BYTE_ARRAY and of a page with a dictionary."""


class ColumnPages(NamedTuple):
    """All pages of a column in a group of rows."""

    column: str
    """Path of the column."""
    is_text: bool
    num_values: int
    """Number of values, with those that are missing."""
    num_bytes: int
    """Bytes of all pages once they are decompressed."""
    dictionary_bytes: int
    """Bytes of the dictionary, which bound each text."""


class FilePages(NamedTuple):
    """Number of rows of a file, and its columns by group of rows."""

    rows: int
    columns: list[ColumnPages]


def read_pages(path: Path) -> FilePages:
    """Read the headers of all pages; a damaged file raises a `ValueError`."""
    try:
        with path.open("rb") as file:
            return _read(file)
    except (IndexError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError("its description is damaged") from error


def _read(file: BinaryIO) -> FilePages:
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    tail = file.read()
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > min(_LARGEST_END, size - 8):
        raise ValueError("it is no Parquet file, or its end is missing")
    file.seek(size - 8 - length)
    end = _Thrift(file.read(length)).struct()
    groups = end.get(4, [])
    rows = max(end.get(3, 0), sum(group[3] for group in groups))
    return FilePages(rows, [_column(file, size, column[3]) for group in groups for column in group[1]])


def _column(file: BinaryIO, size: int, told: dict[int, Any]) -> ColumnPages:
    """Add up the pages of a column."""
    values = num_bytes = dictionary = 0
    for page in _pages(file, size, told):
        num_bytes += page[2]
        if page[1] == _DICTIONARY:
            dictionary += page[2]
        else:
            values += page[5 if 5 in page else 8][1]
    path = b".".join(told[3]).decode("utf-8", "replace")
    return ColumnPages(path, told[1] == _TEXT, max(values, told[5]), num_bytes, dictionary)


def _pages(file: BinaryIO, size: int, told: dict[int, Any]) -> Iterator[dict[int, Any]]:
    """Yield the headers of the pages of a column."""
    if not told[5]:  # a column without values has no page of them, which Arrow writes as a page at 0
        return
    place = min(told[9], told[11]) if told.get(11, 0) > 0 else told[9]
    stop = place + told[7]
    if not 0 < place <= stop <= size:
        raise ValueError("its pages are beyond its end")
    while place < stop:
        file.seek(place)
        header = _Thrift(file.read(_LARGEST_HEADER))
        page = header.struct()
        if page[2] < 0 or page[3] < 0:
            raise ValueError("a page has a negative size")
        place += header.place + page[3]
        yield page


class _Thrift:
    """Reader of structures, as tables of their fields by number."""

    def __init__(self, data: bytes) -> None:
        self.place = 0
        self._data = data
        self._left = _MOST

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Read a structure."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise ValueError("its description is too large")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (7, 8):
            return self._bytes(8 if kind == 7 else self._varint())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError("its description is damaged")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        if count > self._left:
            raise ValueError("its description is too large")
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _byte(self) -> int:
        self.place += 1
        return self._data[self.place - 1]

    def _bytes(self, length: int) -> bytes:
        if length > len(self._data) - self.place:
            raise ValueError("its description is cut off")
        self.place += length
        return self._data[self.place - length : self.place]

    def _varint(self) -> int:
        value = shift = 0
        while shift < 64:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise ValueError("its description is damaged")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


ROWS, VALUES = 5_000_000, 100_000_000
"""Largest number of rows of a file, and of numbers and texts in them. A shard has about 20,000 decisions."""
BYTES = 1 << 30
"""Largest number of bytes of all pages once they are decompressed, and of all texts once they are read."""


def read_bounded_schema(path: Path) -> pa.Schema:
    """Read the schema of a file; refused where its content would be too large to be read."""
    status = path.stat()
    _check_size(path, status.st_size, status.st_mtime_ns)
    return pq.read_schema(path)


@lru_cache(maxsize=4096)
def _check_size(path: Path, size: int, changed: int) -> None:
    """Check a file once, as long as it does not change."""
    try:
        rows, columns = read_pages(path)
    except ValueError as error:
        raise BadRecord(f"{path} cannot be read: {error}.") from error
    values, num_bytes = sum(column.num_values for column in columns), sum(column.num_bytes for column in columns)
    if rows > ROWS or values > VALUES or num_bytes > BYTES:
        raise BadRecord(
            f"{path} stands for {rows:,} rows, {values:,} values and {num_bytes:,} bytes, and a file of a record has "
            f"at most {ROWS:,}, {VALUES:,} and {BYTES:,}."
        )
    texts = [column for column in columns if column.is_text]
    if sum(column.num_values * column.dictionary_bytes for column in texts) > BYTES:
        _check_texts(path, sorted({column.column for column in texts if column.dictionary_bytes}))


def _check_texts(path: Path, columns: Sequence[str]) -> None:
    """Add up the texts while each is still stored once."""
    file = pq.ParquetFile(path, read_dictionary=list(columns))
    total = 0
    for group in range(file.num_row_groups):
        for column in columns:
            for array in file.read_row_group(group, columns=[column], use_threads=False).columns:
                total += sum(map(_length, array.chunks))
                if total > BYTES:
                    raise BadRecord(f"{path} holds texts of more than {BYTES:,} bytes, which no record has.")


def _length(array: pa.Array) -> int:
    """Return the number of bytes of all texts in an array, repeated ones as often as they stand there."""
    if pa.types.is_dictionary(array.type):
        lengths = pc.cast(pc.binary_length(array.dictionary), pa.int64())
        return int(pc.sum(lengths.take(array.indices)).as_py() or 0)
    return sum(map(_length, _within(array)))


def _within(array: pa.Array) -> Iterator[pa.Array]:
    if pa.types.is_list(array.type):
        yield array.flatten()
    elif pa.types.is_struct(array.type):
        yield from array.flatten()
