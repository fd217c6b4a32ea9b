"""Logs of inspect (https://inspect.aisi.org.uk): `.eval` files and their form in JSON.

An `.eval` file is a zip. `header.json` has the task and the model, `summaries.json` the scores of all samples. Members
may be compressed by Zstandard, which `zipfile` of Python 3.13 and earlier does not decode: pyarrow's codec does. Where
inspect is installed, `inspect_ai.log.read_eval_log` reads the file, once the sizes of its members are known.

Letters are scores as in inspect's `value_to_float`: C is 1, P is .5, I and N are 0. Epochs are repeats of a sample.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.files import LARGEST, parse_json, reason
from stratagem.connect.logs.base import (
    LARGEST_LOG,
    LogColumns,
    LogFile,
    LogFormat,
    LogScores,
    bound_scores,
    field_of,
    nothing_called,
    number_of,
    text_of_field,
)
from stratagem.measure.logs.scores import STOPPED, ItemScore

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "no": 0.0}
_ZSTANDARD = 93
"""Method of a compressed member in the format of zip files."""
MOST_MEMBERS, LARGEST_UNFOLDED = 200_000, 8 * LARGEST_LOG
_MOST_EPOCHS = 1_000
_PIECE = 1 << 20
_HEADERS = ("header.json", "_journal/start.json")
"""Members with the task and the model: of a finished log, and of one that is not."""


class InspectLog(LogFormat):
    """Log of inspect."""

    label: ClassVar[str] = "inspect's .eval or its JSON"

    def recognises(self, file: LogFile) -> bool:
        if file.head.startswith(b"PK\x03\x04"):
            return file.path.suffix.casefold() == ".eval" or any(name in _names(file) for name in _HEADERS)
        data = file.data
        return isinstance(data, Mapping) and isinstance(data.get("eval"), Mapping) and "task" in data["eval"]

    def read(self, file: LogFile, columns: LogColumns) -> LogScores:
        data = _read_zip(file.path) if file.head.startswith(b"PK") else file.data
        try:
            task, model = str(data["eval"]["task"]).rpartition("/")[2], str(data["eval"]["model"])
            samples = list(data.get("samples") or ())
            rows = bound_scores(_rows(file.path, data, samples, task, columns), file.path)
        except (KeyError, TypeError, AttributeError) as error:
            raise BadRecord(f"{file.path} is damaged: it has no {error}.") from error
        system = text_of_field(field_of(data["eval"], columns.system)) if columns.system else model
        if system is None:
            raise nothing_called("system", columns.system, data["eval"], file.path)
        return LogScores(tuple(row._replace(system=system) for row in rows))


def _rows(
    path: Path, data: Mapping[str, Any], samples: list[Mapping[str, Any]], task: str, columns: LogColumns
) -> Iterator[ItemScore]:
    measures = _measures(path, data, samples, columns)
    for sample in samples:
        for name in measures:
            yield _of_sample(path, sample, task, name, columns)
    if data.get("status") != "success":
        done = Counter(str(sample["id"]) for sample in samples)
        items = {str(sample["id"]): str(field_of(sample, columns.item or "id")) for sample in samples}
        planned = [str(item) for item in data["eval"].get("dataset", {}).get("sample_ids") or ()]
        unknown = {*planned} - {*items}
        if unknown and columns.item not in ("", "id"):
            raise BadParameter(
                f"{path} was stopped, and names {len(unknown)} samples by their ids alone: leave `item={columns.item}` "
                "out."
            )
        for known in dict.fromkeys([*planned, *items]):
            for _ in range(_epochs(data) - done[known]):
                item = items.get(known, known)
                yield from (ItemScore(item, "", None, f"{task}/{name}", reason=STOPPED) for name in measures)


def _epochs(data: Mapping[str, Any]) -> int:
    """Return the number of epochs that a log planned."""
    epochs = (data["eval"].get("config") or {}).get("epochs")
    return min(epochs, _MOST_EPOCHS) if isinstance(epochs, int) else 1


def _measures(
    path: Path, data: Mapping[str, Any], samples: Iterable[Mapping[str, Any]], columns: LogColumns
) -> list[str]:
    """Return the scorers, and the parts of those that give several scores by name, as in `scorer.part`.

    They are gathered from all samples: one that failed has none of them, and lacks all of them.
    """
    found: dict[str, None] = {}
    for sample in samples:
        for scorer, score in (sample.get("scores") or {}).items():
            value = _value_of(score)
            parts = [f"{scorer}.{part}" for part in value] if isinstance(value, Mapping) else [str(scorer)]
            found |= dict.fromkeys(parts)
    known = [*found] or [str(scorer["name"]) for scorer in data["eval"].get("scorers") or ()]
    chosen = [name for name in known if columns.score in ("", name) or name.startswith(f"{columns.score}.")]
    if not known:
        raise BadRecord(f"{path} has no scores: inspect writes them with a scorer, and without `--no-score`.")
    if not chosen:
        raise nothing_called("score", columns.score, known, path)
    return chosen


def _value_of(score: Any) -> Any:
    return score.get("value") if isinstance(score, Mapping) else score


def _of_sample(path: Path, sample: Mapping[str, Any], task: str, name: str, columns: LogColumns) -> ItemScore:
    """Return the score of one sample by a scorer, or its part."""
    item = text_of_field(field_of(sample, columns.item or "id"))
    if item is None:
        raise nothing_called("item", columns.item, sample, path)
    cluster = None
    if columns.cluster:
        known = {**sample, **(sample.get("metadata") or {})}
        cluster = text_of_field(field_of(known, columns.cluster))
        if cluster is None:
            raise nothing_called("cluster", columns.cluster, known, path)
    values = {scorer: _value_of(score) for scorer, score in (sample.get("scores") or {}).items()}
    number = _score(field_of(values, name), f"Sample {item} of {path}")
    repeat = str(field_of(sample, columns.repeat or "epoch") or "")
    why = "" if number is not None else _why_missing(sample)
    return ItemScore(item, "", number, f"{task}/{name}", cluster, repeat, why)


def _score(value: Any, where: str) -> float | None:
    if isinstance(value, str) and value in _LETTERS:
        return _LETTERS[value]
    if isinstance(value, list):
        raise BadParameter(f"{where} has a list of scores: `score=SCORER` chooses a scorer with one.")
    return number_of(value, where)


def _why_missing(sample: Mapping[str, Any]) -> str:
    if sample.get("error"):
        return "error"
    return "limit" if sample.get("limit") else "no score"


def _names(file: LogFile) -> list[str]:
    try:
        with zipfile.ZipFile(file.path) as opened:
            return opened.namelist()
    except (OSError, zipfile.BadZipFile):
        return []


def _read_zip(path: Path) -> Mapping[str, Any]:
    """Return a log as its form in JSON, with the summaries of samples in the place of samples."""
    try:
        with zipfile.ZipFile(path) as opened:
            members = {info.filename: info for info in opened.infolist()}
            size = _check_sizes(path, members.values())
            if size <= LARGEST_LOG and find_spec("inspect_ai") is not None:
                for info in members.values():
                    _check_member(opened, info)
                return _by_inspect(path)
            header = next((name for name in _HEADERS if name in members), None)
            if header is None:
                raise BadRecord(f"{path} is no log of inspect: it has no {_HEADERS[0]}.")
            data = dict(_json_member(opened, members[header]))
            data["samples"] = list(_samples(opened, members))
            return data
    except (OSError, zipfile.BadZipFile, EOFError, zlib.error, TypeError) as error:
        raise BadRecord(f"{path} is damaged: {reason(error)}.") from error
    except (ValueError, RuntimeError) as error:  # `zipfile` raises the second for a password, or another compression
        raise BadRecord(f"{path} cannot be read: {str(error)[:200]}.") from error


def _check_sizes(path: Path, members: Iterable[zipfile.ZipInfo]) -> int:
    """Return the size of a log when it is unfolded; what is larger than any log is refused."""
    sizes = [info.file_size for info in members]
    if len(sizes) > MOST_MEMBERS or sum(sizes) > LARGEST_UNFOLDED:
        raise BadRecord(f"{path} would unfold to {sum(sizes) >> 20} MiB in {len(sizes)} files: it is not read.")
    return sum(sizes)


def _check_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """Refuse a member that unfolds to more than it declares: inspect would hold all of it."""
    left = info.file_size
    with _open_member(opened, info) as stream:
        while piece := stream.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                raise ValueError(f"{info.filename} is larger than it declares")


def _by_inspect(path: Path) -> Mapping[str, Any]:
    from inspect_ai.log import read_eval_log

    try:
        data: Mapping[str, Any] = read_eval_log(str(path)).model_dump(
            mode="json", exclude={"samples": {"__all__": _LONG}}
        )
        return data
    except Exception as error:
        raise BadRecord(f"{path} cannot be read by inspect: {str(error)[:200]}.") from error


_LONG = {"messages", "events", "output", "attachments", "store"}
"""Fields of samples that hold transcripts, which are not needed."""


def _samples(opened: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of a log: its summaries, those of its journal where it is not finished, or samples."""
    if "summaries.json" in members:
        yield from _json_member(opened, members["summaries.json"])
        return
    journal = [name for name in members if name.startswith("_journal/summaries/")]
    if journal:
        for name in sorted(journal):
            yield from _json_member(opened, members[name])
        return
    for name in sorted(name for name in members if name.startswith("samples/")):
        yield _json_member(opened, members[name])


def _json_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """Parse a member; one that unfolds to more than it declares, or than a file of JSON may have, is refused."""
    if info.file_size > LARGEST:
        raise ValueError(f"{info.filename} is larger than {LARGEST >> 20} MiB")
    with _open_member(opened, info) as stream:
        data = stream.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise ValueError(f"{info.filename} has another size than it declares")
    return parse_json(data)


def _open_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """Return a member as a stream of bytes."""
    if info.compress_type != _ZSTANDARD:
        return opened.open(info)
    import pyarrow as pa

    file = opened.fp
    assert file is not None
    file.seek(info.header_offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise ValueError(f"{info.filename} is not where its index says")
    file.seek(sum(struct.unpack("<HH", header[26:30])), 1)  # the name and the extra field of the member
    return pa.CompressedInputStream(pa.BufferReader(file.read(info.compress_size)), "zstd")
