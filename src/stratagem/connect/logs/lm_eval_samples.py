"""Samples of lm-evaluation-harness: `samples_TASK_DATE.jsonl`, which it writes with `--log_samples`.

A line is one document under one filter, with its metrics by name. The system is the folder, which has the name of the
model. Filters are repeats of a document; `score="exact_match,strict-match"` takes one alone, as the harness names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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

_NAME = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl")
_FIELDS = {"doc_id", "filtered_resps"}
"""Fields of every line."""


class LmEvalSamples(LogFormat):
    """Samples of lm-evaluation-harness."""

    label: ClassVar[str] = "lm-eval's samples_*.jsonl"

    def recognises(self, file: LogFile) -> bool:
        return file.first_row.keys() >= _FIELDS

    def read(self, file: LogFile, columns: LogColumns) -> LogScores:
        named = _NAME.fullmatch(file.name)
        task = f"{named['task']}/" if named else ""  # a file with another name does not tell its task
        system = file.path.absolute().parent.name.replace("__", "/") if named else file.path.stem
        rows: list[ItemScore] = []
        names: set[str] = set()
        for number, row in file.rows():
            where = f"Line {number} of {file.path}"
            names |= set(_metrics(row)) | {f"{metric},{row.get('filter')}" for metric in _metrics(row)}
            repeat = str(row.get("filter") or "none")
            metric, comma, only = columns.score.partition(",")
            if comma and repeat != only:
                continue
            for name in [metric] if metric else _metrics(row):
                if name not in row:
                    continue
                rows.append(
                    ItemScore(
                        item=_item(row, columns, where),
                        system=_system(file, row, columns) or system,
                        score=number_of(_first(row[name]), where),
                        measure=f"{task}{name}{',' if comma else ''}{only}",
                        cluster=_cluster(file, row, columns),
                        repeat=repeat,
                    )
                )
        if not rows and columns.score:
            raise nothing_called("score", columns.score, names, file.path)
        if not rows:
            raise BadRecord(f"{file.path} has no metrics: name one by `score=`.")
        return LogScores(tuple(rows), one_system=len({row.system for row in rows}) < 2)


def _metrics(row: Mapping[str, Any]) -> list[str]:
    """Return the names of the metrics of a line; earlier versions do not list them, and they are its numbers."""
    listed = row.get("metrics")
    if isinstance(listed, list):
        return [str(name) for name in listed if isinstance(_first(row.get(str(name))), int | float)]
    return [name for name, value in row.items() if isinstance(value, int | float) and name != "doc_id"]


def _first(value: Any) -> Any:
    """Return the score of a metric; one that is averaged by its own function may have a pair that begins with it."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _item(row: Mapping[str, Any], columns: LogColumns, where: str) -> str:
    """Return the document: its number and the digest of its content, so that another one is another item."""
    item = text_of_field(field_of(row, columns.item or "doc_id"))
    if item is None:
        raise BadRecord(f"{where} has no {columns.item or 'doc_id'}.")
    return item if columns.item else f"{item}:{str(row.get('doc_hash', ''))[:12]}"


def _system(file: LogFile, row: Mapping[str, Any], columns: LogColumns) -> str | None:
    if not columns.system:
        return None
    system = text_of_field(field_of(row, columns.system))
    if system is None:
        raise nothing_called("system", columns.system, row, file.path)
    return system


def _cluster(file: LogFile, row: Mapping[str, Any], columns: LogColumns) -> str | None:
    if not columns.cluster:
        return None
    doc = row.get("doc")
    known = {**row, **doc} if isinstance(doc, Mapping) else row
    cluster = text_of_field(field_of(known, columns.cluster))
    if cluster is None:
        raise nothing_called("cluster", columns.cluster, known, file.path)
    return cluster
