"""Sibling runs, which differ in nothing but the seed and lie in one folder: the variation over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stratagem.base.errors import StratagemError
from stratagem.measure.statistics import with_interval
from stratagem.show.reports.run_data import RunData, finite
from stratagem.training.runs.folder import find_runs


def runs_by_seed(data: RunData) -> list[RunData]:
    """Return the run and its siblings, by seed."""
    runs = [data]
    for run in find_runs(data.run.path.resolve().parent):
        other = RunData(run)
        if run.path.resolve() != data.run.path.resolve() and _alike(data, other):
            runs.append(other)
    return sorted(runs, key=lambda run: int(run.settings.get("seed", 0)))


def _alike(run: RunData, other: RunData) -> bool:
    try:
        settings = [{k: v for k, v in data.settings.items() if k != "seed"} for data in (run, other)]
        return bool(settings[0]) and settings[0] == settings[1] and bool(other.curves)
    except StratagemError:
        return False


def band(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a mean over seeds; the value itself for one seed."""
    runs = with_interval(values)
    return (runs.mean if runs.low is None else runs.low, runs.mean if runs.high is None else runs.high)


def values_by_step(runs: Sequence[RunData], metric: str) -> Mapping[int, list[float]]:
    """Return a metric at every step that all runs have reached, a value a run."""
    curves = [finite(run.curves.get(metric)) for run in runs]
    steps = sorted(set.intersection(*(set(curve) for curve in curves))) if curves else []
    return {step: [curve[step] for curve in curves] for step in steps}
