"""Tables of the experiments: finished runs with their provenance, one JSON over several sittings, and Markdown."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratagem.evaluation.statistics import Estimate
from stratagem.runs.folder import RunFolder, find_runs

Row = dict[str, Any]
"""Figures of one run, with its seed, commit, command and `dirty`."""
DASH = "\u2013"
_NAME = re.compile(r"(?P<stem>.+)-(?P<seed>\d+)")


@dataclass(frozen=True)
class FinishedRun:
    """Finished run of an experiment; its folder is called STEM-SEED."""

    stem: str
    seed: int
    folder: RunFolder

    @property
    def path(self) -> Path:
        """Folder of the run."""
        return self.folder.path

    def read(self, name: str) -> Any:
        """Read a JSON file of the run."""
        return json.loads((self.path / name).read_text(encoding="utf-8"))

    def provenance(self) -> Row:
        """Return the commit and the command of the run, and whether the program differed from the commit."""
        info = self.folder.info()
        return {"commit": info.commit, "command": info.command, "dirty": info.dirty}


def finished(folder: Path) -> Iterator[FinishedRun]:
    """Find the finished runs whose names end with a seed."""
    for run in find_runs(folder):
        match = _NAME.fullmatch(run.name)
        if match and run.status().state == "finished":
            yield FinishedRun(match["stem"], int(match["seed"]), run)


def merged(old: Mapping[str, Sequence[Row]], new: Iterable[tuple[str, Row]]) -> dict[str, list[Row]]:
    """Merge runs by name and seed; a new run replaces an old one, and a new name comes last."""
    runs = {name: {row["seed"]: row for row in rows} for name, rows in old.items()}
    for name, row in new:
        runs.setdefault(name, {})[row["seed"]] = row
    return {name: [own[seed] for seed in sorted(own)] for name, own in runs.items()}


def table_command_line(doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a program that adds the runs of a folder to a JSON and prints tables."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the runs")
    parser.add_argument("out", type=Path, help="JSON file, to which finished runs are added")
    return parser


def read_results(path: Path) -> dict[str, Any]:
    """Read the JSON of results; empty where there is none yet."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return data


def write_results(path: Path, data: Mapping[str, Any]) -> None:
    """Write the JSON of results."""
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def number(value: float | None, digits: int = 3) -> str:
    """Format a figure without its leading zero; a dash where there is none."""
    if value is None:
        return DASH
    text = f"{abs(value):.{digits}f}"
    return ("-" if value < 0 and float(text) else "") + text.removeprefix("0")


def interval(estimate: Estimate, form: str = ".2f") -> str:
    """Format the 95 % interval of a mean, as [LOW, HIGH]; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{estimate.low:{form}}, {estimate.high:{form}}]"
