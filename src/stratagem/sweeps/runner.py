"""Runner of a sweep, resumable: one clean commit makes all runs, so that only the arms differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.base.files import parse_json, read_small, reason, telling, write_file
from stratagem.base.provenance import source
from stratagem.playing.workers.plan import current
from stratagem.sweeps.plan import SweepPlan, plan_runs
from stratagem.sweeps.planned_run import PlannedRun
from stratagem.sweeps.run_maker import ENDING, Tell, check_clean, made_by_workers, skip_message, waves
from stratagem.training.runs.metrics import read_metrics

FILE, PLAN = "sweep.json", "sweep.toml"


class RunsFailed(StratagemError):
    """Failures of a sweep's runs, by name."""

    def __init__(self, failed: Mapping[str, StratagemError], number: int) -> None:
        reasons = " ".join(f"{name}: {error}" for name, error in failed.items())
        super().__init__(
            f"{len(failed)} of {number} runs failed. The same sweep tries them again, and `compare=True` compares the "
            f"others. {reasons}"
        )


class Sweep:
    """Runs of one plan in a folder."""

    def __init__(self, path: Path, plan: SweepPlan, folder: Path, *, any_tree: bool = False) -> None:
        """Set up; with `any_tree` runs of any state of the program are allowed, with a warning."""
        self.path = path
        self.plan = plan
        self.folder = folder
        self.any_tree = any_tree
        self.runs = list(plan_runs(plan, path.parent))
        for run in self.runs:
            run.check_trainable()

    def run(self, tell: Tell = lambda _: None) -> None:
        """Make the missing runs and resume the unfinished ones; those that another process holds are skipped.

        A run that fails stops no other, and all failures are raised together at the end. A server that failed, a spent
        budget or a failed write ends the sweep, since the next run would meet it too.
        """
        self.bind()
        command, number, workers = f"stratagem sweep {self.path}", 0, current().workers
        failed: dict[str, StratagemError] = {}
        for some in waves(self.runs, workers):
            for run in some:
                tell(f"{(number := number + 1)} of {len(self.runs)}: {run.name}")
            for run, outcome in made_by_workers(some, self.folder, {run.name: command for run in some}):
                if isinstance(outcome, ENDING):
                    raise outcome
                if isinstance(outcome, StratagemError):
                    failed[run.name] = outcome
                    tell(f"{run.name} failed: {outcome}")
                    continue
                if outcome == "held":
                    tell(skip_message(run, outcome))
                elif workers.separate:
                    tell(f"{run.name} is finished")
                check_metric(self.plan.metric, [run], self.folder)  # after the first run, and not after all of them
        if failed:
            raise RunsFailed(failed, len(self.runs))

    def bind(self) -> None:
        """Bind all runs to one commit, and existing ones to the plan as it is."""
        now = source()
        with telling(self.folder):
            known = known_source(self.folder)
        if not self.any_tree:
            _check(now, known)
        check_settings(self.runs, self.folder)
        with telling(self.folder):  # after the checks: a refused sweep leaves no folder
            self.folder.mkdir(parents=True, exist_ok=True)
        if not known or self.any_tree:
            write_file(self.folder / FILE, json.dumps({**now, "any_tree": self.any_tree}, indent=1) + "\n")
        write_file(self.folder / PLAN, self.path.read_text(encoding="utf-8"))


def check_settings(runs: Iterable[PlannedRun], folder: Path) -> None:
    """Refuse to resume or compare runs that were begun with other settings."""
    for run in runs:
        run.check_settings(folder)


def check_metric(metric: str, runs: Iterable[PlannedRun], folder: Path) -> None:
    """Refuse a metric that a finished run lacks."""
    for planned_run in runs:
        run = planned_run.existing(folder)
        if run is not None and run.status().state == "finished" and metric not in (metrics := read_metrics(run)):
            raise UnknownName("figure of this sweep", metric, metrics)


def known_source(folder: Path) -> dict[str, Any]:
    """Return the commit that a sweep in a folder was begun with, or nothing."""
    try:
        known = parse_json(read_small(folder / FILE))
    except (FileNotFoundError, NotADirectoryError):  # a file in the folder's place is told where the folder is made
        return {}
    except (OSError, ValueError) as error:
        raise StratagemError(f"The file {folder / FILE} cannot be read: {reason(error)}.") from error
    if not isinstance(known, dict):
        raise StratagemError(f"The file {folder / FILE} cannot be read: it is no table.")
    return known


def _check(now: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Check for one clean commit."""
    check_clean(now, otherwise="add `any_tree=True`")
    if known.get("dirty") or known.get("any_tree"):
        raise StratagemError(
            "This sweep was begun with `any_tree=True`, so its runs are not all by one commit: go on with it, or start "
            "again in another folder."
        )
    if known and known.get("commit") != now["commit"]:
        raise StratagemError(
            f"This sweep was begun with commit {str(known.get('commit'))[:12]}, and the program is now "
            f"{now['commit'][:12]}: go back to it, start again in another folder, or add `any_tree=True`."
        )
