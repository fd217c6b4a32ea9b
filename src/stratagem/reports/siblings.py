"""Runs that lie beside one and differ from it in nothing but the seed: together they say what a seed is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stratagem.errors import StratagemError
from stratagem.evaluation.statistics import with_interval
from stratagem.reports.run_data import RunData, finite
from stratagem.runs.folder import find_runs


def together(data: RunData) -> list[RunData]:
    """The run and its siblings, by seed."""
    found = [data]
    for run in find_runs(data.run.path.resolve().parent):
        other = RunData(run)
        if run.path.resolve() != data.run.path.resolve() and _alike(data, other):
            found.append(other)
    return sorted(found, key=lambda one: int(one.settings.get("seed", 0)))


def _alike(one: RunData, other: RunData) -> bool:
    try:
        settings = [{k: v for k, v in data.settings.items() if k != "seed"} for data in (one, other)]
        return bool(settings[0]) and settings[0] == settings[1] and bool(other.curves)
    except StratagemError:
        return False


def band(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a mean over seeds; of one seed there is none, so it is that seed's value."""
    found = with_interval(values)
    return (found.mean if found.low is None else found.low, found.mean if found.high is None else found.high)


def at_once(runs: Sequence[RunData], metric: str) -> Mapping[int, list[float]]:
    """A metric at every step that all runs have come to, a value a run."""
    curves = [finite(run.curves.get(metric)) for run in runs]
    steps = sorted(set.intersection(*(set(curve) for curve in curves))) if curves else []
    return {step: [curve[step] for curve in curves] for step in steps}
