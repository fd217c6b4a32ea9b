"""Format of logs: a text file of one system, each line an item and its score."""

from __future__ import annotations

from typing import ClassVar

from stratagem.connect.logs.base import LogColumns, LogFile, LogFormat, LogScores, number_of
from stratagem.measure.logs.scores import ItemScore


class PlainScores(LogFormat):
    """Lines such as `question-17 0.5`."""

    label: ClassVar[str] = "*.scores with an item and a score a line"

    def recognises(self, file: LogFile) -> bool:
        return file.path.suffix == ".scores"

    def read(self, file: LogFile, columns: LogColumns) -> LogScores:
        rows = []
        for number, line in enumerate(file.lines(), 1):
            item, _, score = line.strip().partition(" ")
            rows.append(ItemScore(item, file.path.stem, number_of(score, f"Line {number} of {file.path}")))
        return LogScores(tuple(rows))
