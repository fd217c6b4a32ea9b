"""Logs of evaluations as readers see them: a file of bounded size, the columns that a user names, and scores.

A log comes from anybody: its sizes are bounded before it is read, and its texts are data. A format of another package
is a `LogFormat` under the entry point `stratagem.logs`.
"""

from __future__ import annotations

import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.files import LARGEST, parse_json, read_bounded, reason
from stratagem.measure.logs.scores import ItemScore

__all__ = ["LogColumns", "LogFile", "LogFormat", "LogScores", "field_of", "number_of"]

LARGEST_LOG = 1 << 30
"""Largest number of bytes of a log that is read line by line, or member by member."""
LONGEST_LINE = 1 << 24
MOST_SCORES = 2_000_000
"""Largest number of scores of a log, with those that it lacks."""
_HEAD = 1 << 16
_NO_NUMBERS = {"": None, "nan": None, "null": None, "none": None, "true": 1.0, "false": 0.0}
"""Scores by texts that are no numbers: None is a missing one."""


@dataclass(frozen=True)
class LogColumns:
    """Names of columns or fields that a user gave; empty for those of the format."""

    item: str = ""
    system: str = ""
    score: str = ""
    cluster: str = ""
    repeat: str = ""


@dataclass(frozen=True)
class LogScores:
    """Scores of one file."""

    rows: tuple[ItemScore, ...]
    one_system: bool = True
    """True if the file is a run of one system, so that two files are two systems; False where rows name theirs."""


def bound_scores(scores: Iterable[ItemScore], path: Path) -> tuple[ItemScore, ...]:
    """Return the scores of a log, unless it stands for more than any has: a short one may plan millions of them."""
    found = tuple(islice(scores, MOST_SCORES + 1))
    if len(found) > MOST_SCORES:
        raise BadRecord(f"{path} stands for more than {MOST_SCORES:,} scores: it is not read.")
    return found


class LogFormat(ABC):
    """Format of a log: how it is known, and how its scores are read."""

    label: ClassVar[str]
    """Name of the format in sentences."""

    @abstractmethod
    def recognises(self, file: LogFile) -> bool:
        """Return whether a file has this format, from its name and its beginning."""

    @abstractmethod
    def read(self, file: LogFile, columns: LogColumns) -> LogScores:
        """Read the scores; a damaged file raises `BadRecord`, and a missing column `BadParameter`."""


class LogFile:
    """File of a log, read no further than needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.name

    @cached_property
    def head(self) -> bytes:
        """First bytes of the file."""
        try:
            if self.path.is_fifo():
                raise BadRecord(f"{self.path} is a pipe: write the log to a file.")
            with self.path.open("rb") as file:
                return file.read(_HEAD)
        except OSError as error:
            raise BadRecord(f"{self.path} cannot be read: {reason(error)}.") from error

    @cached_property
    def data(self) -> Any:
        """The file as JSON; None where it is none."""
        if self.head.lstrip()[:1] not in (b"{", b"["):
            return None
        try:
            return parse_json(read_bounded(self.path, LARGEST))
        except (OSError, ValueError) as error:
            if "larger than" in str(error):
                raise BadRecord(f"{self.path} cannot be read: {reason(error)}.") from error
            return None

    @cached_property
    def first_row(self) -> Mapping[str, Any]:
        """First line as a JSON object; empty where it is none."""
        try:
            found = parse_json(next(self.lines(), ""))
        except ValueError:
            return {}
        return found if isinstance(found, Mapping) else {}

    def rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield each line that is a JSON object with its number; empty lines are left out."""
        for number, line in enumerate(self.lines(), 1):
            if not line.strip():
                continue
            try:
                row = parse_json(line)
            except ValueError as error:
                raise BadRecord(f"Line {number} of {self.path} is no JSON: {error}.") from error
            if not isinstance(row, Mapping):
                raise BadRecord(f"Line {number} of {self.path} is no JSON object.")
            yield number, row

    def text_file(self) -> io.TextIOWrapper:
        """Open the file as text of a bounded size."""
        try:
            if self.path.stat().st_size > LARGEST_LOG:
                raise BadRecord(f"{self.path} cannot be read: it is larger than {LARGEST_LOG >> 20} MiB.")
            return self.path.open(encoding="utf-8-sig", newline="")
        except OSError as error:
            raise BadRecord(f"{self.path} cannot be read: {reason(error)}.") from error

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        with self.text_file() as file:
            while line := self._line(file):
                yield line

    def _line(self, file: io.TextIOWrapper) -> str:
        try:
            line = file.readline(LONGEST_LINE)
        except UnicodeDecodeError as error:
            raise BadRecord(f"{self.path} is no text in UTF-8.") from error
        if len(line) == LONGEST_LINE:
            raise BadRecord(f"A line of {self.path} has more than {LONGEST_LINE >> 20} million characters.")
        return line


def field_of(row: Mapping[str, Any], name: str) -> Any:
    """Return a field of a row, `metrics.accuracy` of a mapping in it; None where there is none."""
    if name in row:
        return row[name]
    first, dot, rest = name.partition(".")
    inner = row.get(first) if dot else None
    return field_of(inner, rest) if isinstance(inner, Mapping) else None


def text_of_field(value: Any) -> str | None:
    """Return a field as a text, which names an item, a system or a cluster; None where there is none."""
    return None if value is None or value == "" else str(value)


def number_of(value: Any, where: str) -> float | None:
    """Return a score; None where it is missing. Anything but a number is refused."""
    if isinstance(value, str) and value.strip().casefold() in _NO_NUMBERS:
        return _NO_NUMBERS[value.strip().casefold()]
    if value is None:
        return None
    try:
        score = math.inf if "_" in str(value) else float(value)  # Python reads 1_0 as 10
    except (TypeError, ValueError, OverflowError):
        score = math.inf
    if math.isinf(score):
        raise BadParameter(f"{where} has the score {str(value)[:60]!r}, which is no number: `score=` names the column.")
    return None if math.isnan(score) else score


def nothing_called(what: str, name: str, known: Iterable[str], path: Path) -> BadParameter:
    """Return the error for a column or a measure that a file does not have."""
    names = ", ".join(sorted({str(one) for one in known})[:20]) or "none"
    return BadParameter(f"{path} has no {what} {name!r}: there are {names}; `{what}=` takes one of them.")
