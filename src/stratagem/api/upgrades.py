"""Upgrades: `upgrade` gives the files of a run the keys and the format of this release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.api.runs import Run, load_run
from stratagem.games.base import Json
from stratagem.show.table import ResultTable, text_table

__all__ = ["UpgradedRun", "upgrade"]


@dataclass(frozen=True, repr=False)
class UpgradedRun(Result):
    """Run after an upgrade, with what was renamed."""

    run: Run
    renamed: Mapping[str, str]
    """Old keys of the configuration, each with what is written now."""
    kept: Path | None
    """Folder with the old files; None where the run was of this release already."""

    def rows(self) -> list[Json]:
        """Return one row for each renamed key."""
        return [{"old": old, "new": new} for old, new in self.renamed.items()]

    def to_json(self) -> Json:
        """Return the renamed keys and the folder of the old files, as `stratagem upgrade --json` prints them."""
        kept = None if self.kept is None else str(self.kept)
        return {"path": str(self.run.path), "renamed": dict(self.renamed), "kept": kept}

    def tables(self) -> list[ResultTable]:
        rows = [(old, new) for old, new in self.renamed.items()]
        return [text_table(f"{self.run.path}", ("old key", "new key"), rows)] if rows else []

    def remarks(self) -> list[str]:
        """Return a sentence about the files."""
        if self.kept is None:
            return [f"{self.run.path} has the keys and the format of this release: nothing was changed."]
        return [f"The old files are in {self.kept}."]


@one_sentence
def upgrade(run: str | Path | Run) -> UpgradedRun:
    """Write the settings of a run of an earlier release under the names of this one, and keep the old files.

    Where a setting would be lost, nothing is changed, and the error names it. A run that no longer needs an upgrade
    stays as it is.

    Args:
        run: Folder of a run of an earlier release.
    """
    from stratagem.algorithms.run_upgrade import upgrade_run

    opened = load_run(run)
    done = upgrade_run(opened.folder)
    return UpgradedRun(opened, done.renamed, done.kept)
