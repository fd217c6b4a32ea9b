"""TensorBoard's event files, written and read by hand: records with a checksum, each a small protocol buffer.

A file is a sequence of TFRecords: the length, its checksum, the event, its checksum. An event has the time, the step,
and either the file's version, a summary of scalars, or the note that a session began, on which TensorBoard forgets what
it has read of this step and later ones.
"""

from __future__ import annotations

import math
import os
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stratagem.runs.files import numbered

PREFIX = "events.out.tfevents."
"""TensorBoard takes files with `tfevents` in the name, in the order of their names; a number of one length follows."""
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5
_TIME, _STEP, _FILE_VERSION, _SUMMARY, _SESSION = 1, 2, 3, 5, 7
_WIDTHS = {_DOUBLE: 8, _FLOAT: 4}


class Event(NamedTuple):
    """What one record says."""

    step: int
    values: dict[str, float]
    """In single precision, which is what TensorBoard keeps."""


class EventFile:
    """A new file of events in a folder, after those that are there."""

    def __init__(self, folder: Path, *, after: int = -1) -> None:
        """`after` is the last step that counts of those in the files before."""
        number = max(event_files(folder), default=0) + 1
        self._file = (folder / f"{PREFIX}{number:010d}").open("xb")
        self._put(0, _field(_FILE_VERSION, _BYTES, b"brain.Event:2"))
        if number > 1:
            self._put(after + 1, _field(_SESSION, _BYTES, _field(1, _VARINT, _varint(1))))

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Add the scalars of a step."""
        scalars = (_field(1, _BYTES, name.encode()) + _field(2, _FLOAT, _single(x)) for name, x in values.items())
        self._put(step, _field(_SUMMARY, _BYTES, b"".join(_field(1, _BYTES, scalar) for scalar in scalars)))

    def _put(self, step: int, what: bytes) -> None:
        when = _field(_TIME, _DOUBLE, struct.pack("<d", time.time()))
        self._file.write(framed(when + (_field(_STEP, _VARINT, _varint(step)) if step else b"") + what))
        self._file.flush()

    def close(self) -> None:
        """Write no more."""
        self._file.close()


def event_files(folder: Path) -> dict[int, Path]:
    """The event files of a folder, by number, in order."""
    return numbered(folder.glob(f"{PREFIX}*"), PREFIX)


def read_events(path: Path) -> Iterator[Event]:
    """The events of a file, up to where it is torn."""
    for data, _ in records(path):
        fields = dict(_fields(data))
        scalars = [dict(_fields(scalar)) for _, scalar in _fields(fields.get(_SUMMARY, b""))]
        values = {scalar[1].decode(): struct.unpack("<f", scalar[2])[0] for scalar in scalars}
        yield Event(_number(fields.get(_STEP, b"\0"), 0)[0], values)


def cut_events(folder: Path, rows: int) -> None:
    """Leave the scalars of so many writes, and nothing torn."""
    for path in event_files(folder).values():
        kept = 0
        for data, end in records(path):
            rows -= _SUMMARY in dict(_fields(data))
            if rows < 0:
                break
            kept = end
        os.truncate(path, kept)


def records(path: Path) -> Iterator[tuple[bytes, int]]:
    """What the records of a file hold, each with where it ends, up to the first that is not whole."""
    data, start = path.read_bytes(), 0
    while start + 12 <= len(data):
        end = start + int.from_bytes(data[start : start + 8], "little") + 16
        if end > len(data) or data[start:end] != framed(inner := data[start + 12 : end - 4]):
            return
        yield inner, end
        start = end


def framed(data: bytes) -> bytes:
    """A record: the data between its length and its checksum."""
    length = struct.pack("<Q", len(data))
    return length + _checksum(length) + data + _checksum(data)


def _checksum(data: bytes) -> bytes:
    """CRC-32C, turned and shifted so that a checksum of data with checksums in it is still a good one."""
    value = crc32c(data)
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """The checksum of Castagnoli and others (1993), one byte at a time."""
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def _row(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ 0x82F63B78 * (value & 1)
    return value


_TABLE = [_row(byte) for byte in range(256)]


def _field(number: int, kind: int, data: bytes) -> bytes:
    """A field of a protocol buffer."""
    return _varint(number << 3 | kind) + (_varint(len(data)) if kind == _BYTES else b"") + data


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low]) if not rest else bytes([low | 0x80]) + _varint(rest)


def _single(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, value))


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protocol buffer, numbers as they stand."""
    at = 0
    while at < len(data):
        tag, start = _number(data, at)
        kind = tag & 7
        if kind == _BYTES:
            size, start = _number(data, start)
            at = start + size
        else:
            at = start + _WIDTHS[kind] if kind in _WIDTHS else _number(data, start)[1]
        yield tag >> 3, data[start:at]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins there, and where it ends."""
    end = next(place for place in range(at, len(data)) if data[place] < 0x80) + 1
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data[at:end])), end
