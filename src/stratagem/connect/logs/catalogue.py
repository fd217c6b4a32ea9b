"""Every format of logs, and the scores of several logs under names of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.base.registry import NamedCall, Registry
from stratagem.connect.logs.base import LogColumns, LogFile, LogFormat, LogScores
from stratagem.connect.logs.inspect_log import InspectLog
from stratagem.connect.logs.kaggle_replay import KaggleReplay
from stratagem.connect.logs.lm_eval_samples import LmEvalSamples
from stratagem.connect.logs.table_rows import TableRows
from stratagem.connect.logs.verifiers_traces import VerifiersTraces
from stratagem.measure.logs.scores import ItemScore

FORMATS = {
    "inspect": InspectLog,
    "lm-eval": LmEvalSamples,
    "verifiers": VerifiersTraces,
    "kaggle": KaggleReplay,
    "rows": TableRows,
}
"""Formats by name, in the order in which they are tried: a table of any columns comes last."""
_registry: Registry[LogFormat] = Registry("log format", FORMATS, "stratagem.logs", LogFormat)


def formats() -> list[LogFormat]:
    """Return every format, those of other packages before ours."""
    further = [name for name in _registry.names() if name not in FORMATS]
    return [_registry.make(NamedCall(name)) for name in (*further, *FORMATS)]


def read_log(path: Path, columns: LogColumns) -> LogScores:
    """Read the scores of one log; a file of no known format is refused."""
    file, known = LogFile(path), formats()
    if path.is_dir():
        raise BadRecord(f"{path} is a folder without an audit: name the logs in it, as in {path}/*.")
    if not path.exists():
        raise BadRecord(f"There is no {path}: name logs of evaluations, or two audits by their folders or cards.")
    if not file.head:
        raise BadRecord(f"{path} is empty.")
    found = next((format_ for format_ in known if format_.recognises(file)), None)
    if found is None:
        labels = "; ".join(format_.label for format_ in known)
        raise BadRecord(f"{path} is no log that is known. Formats: {labels}; or the folder of an audit, or its card.")
    return found.read(file, columns)


def read_logs(given: Sequence[str | Path], columns: LogColumns) -> Iterator[ItemScore]:
    """Yield the scores of several logs; `NAME=PATH` gives the system of a log its name.

    Two runs of one model on one task are two systems, which have the names of their files, too, or their paths where
    these names are alike.
    """
    named = [_named_path(one) for one in given]
    _check_twice(path for name, path in named if not name)
    read = [(name, path, read_log(path, columns)) for name, path in named]
    for name, path, scores in read:
        if name and not scores.one_system:
            systems = ", ".join(dict.fromkeys(row.system for row in scores.rows))
            raise BadParameter(f"{path} has the systems {systems}: leave out `{name}=` in front of it.")
    runs = [_run_of(scores) for name, _, scores in read if not name and scores.one_system]
    shared = {run for run, count in Counter(run for found in runs for run in found).items() if count > 1}
    clashing = {path for name, path, scores in read if not name and scores.one_system and _run_of(scores) & shared}
    stems = Counter(path.stem for path in clashing)
    for name, path, scores in read:
        short = path.stem if stems[path.stem] == 1 else path.with_suffix("")
        for row in scores.rows:
            system = name or (f"{row.system} ({short})" if path in clashing else row.system)
            yield row if row.system == system else row._replace(system=system)


def _check_twice(paths: Iterable[Path]) -> None:
    """Refuse a log that is given twice without a name: its answers would count as repeats."""
    known: set[Path] = set()
    for path in paths:
        if (place := path.resolve()) in known:
            raise BadParameter(f"{path} is given twice: name it once, or two systems as A={path} B={path}.")
        known.add(place)


def _named_path(given: str | Path) -> tuple[str, Path]:
    text = str(given)
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists() or not name:
        return "", Path(text)
    return name, Path(path)


def _run_of(scores: LogScores) -> set[tuple[str, str]]:
    """Return the systems of a log with their measures."""
    return {(row.system, row.measure) for row in scores.rows}
