"""Runs by name, resumable: finished runs are skipped, interrupted runs are resumed.

Two processes may share the work, since each run is locked. A tree with changes that are not committed is refused: a
figure has to name the commit that made it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stratagem.provenance import source


@dataclass(frozen=True)
class Run:
    """One run: its folder's name, its recipes, a later one over an earlier, and what is changed in them."""

    name: str
    recipes: tuple[Path, ...]
    changes: Mapping[str, str] = field(default_factory=dict)
    ends_with: str = "evaluation.json"
    """The last file that it writes."""

    def command(self, folder: Path) -> list[str]:
        """Return the command that starts or resumes the run."""
        stratagem = [sys.executable, "-c", "from stratagem.cli.main import main; main()", "train"]
        if (folder / self.name / "run.json").is_file():
            return [*stratagem, str(folder / self.name), "--resume"]
        sets = [word for place, value in self.changes.items() for word in ("--set", f"{place}={value}")]
        return [*stratagem, *map(str, self.recipes), "--out", str(folder / self.name), *sets]

    def done(self, folder: Path) -> bool:
        """Test whether the run is finished."""
        return (folder / self.name / self.ends_with).is_file()


def check_clean() -> None:
    """Refuse a tree that is no commit."""
    if (found := source())["dirty"] is not False:
        sys.exit(f"The program is no clean commit ({found['commit']}): commit first, or run from a clean clone.")


def make(runs: Iterable[Run], folder: Path) -> None:
    """Run what is not done yet, one after the other, from the project's root."""
    check_clean()
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    for run in runs:
        if not run.done(folder):
            print(" ".join(run.command(folder)), flush=True)
            subprocess.run(run.command(folder), check=False, env=environment)
