"""Size that a Parquet file has once it is read, found before it is read: a small file can stand for terabytes.

A text that is repeated is stored once, and equal numbers as one number with a count. So neither the size of the file
nor the sizes that it declares bound the memory that its reader needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from stratagem.errors import BadRecord
from stratagem.play.parquet_pages import read_pages

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
