"""Several runs over one another: their curves, a mean with a band over the seeds of a recipe, and what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.base import Json
from stratagem.measure.statistics import with_interval
from stratagem.show.reports.main_figures import main_figures
from stratagem.show.reports.metric_reading import chance_of, unit_of
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.siblings import values_by_step
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.parameters import require_parameter
from stratagem.show.viewer.runs import curve_json, finite, settings_of
from stratagem.show.viewer.sentences import sentence_of

MOST = 24
"""Largest number of runs over one another."""
_POINTS = 400
_SEED = "seed"
_FIRST = ("exact/exploitability", "validation/", "checkpoint_metric", "payoff", "illegal_rate", "loss", "entropy")


class ShownRun(NamedTuple):
    """Run with its settings."""

    name: str
    data: RunData
    settings: dict[str, str]

    @property
    def recipe(self) -> tuple[tuple[str, str], ...]:
        """All settings but the seed, which runs of one band share."""
        return tuple(sorted((key, value) for key, value in self.settings.items() if key != _SEED))


def overlay(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the runs that a request names, in bands of the runs that differ in nothing but the seed."""
    shown, broken = _read(library, _names(require_parameter(asked, "runs")))
    bands: dict[tuple[tuple[str, str], ...], list[ShownRun]] = {}
    for run in shown:
        bands.setdefault(run.recipe, []).append(run)
    differing, partial = differences(shown)
    named = _labels([runs[0].settings for runs in bands.values()], differing, partial)
    metrics = _metrics(shown)
    return {
        "runs": [_row(run, (*differing, *partial)) for run in shown],
        "bands": [_band(runs, named, metrics) for runs in bands.values()],
        "differing": differing,
        "partial": partial,
        "metrics": [_metric(metric, shown) for metric in metrics],
        "main": list(dict.fromkeys(figure.metric for run in shown for figure in main_figures(run.data))),
        "broken": broken,
    }


def _names(text: str) -> list[str]:
    """Read the names of runs, which stand in a JSON list."""
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadParameter("`runs` is a JSON list of the names of runs.")
    if not 1 <= len(set(names)) <= MOST:
        raise BadParameter(f"Name 1 to {MOST} runs.")
    return list(dict.fromkeys(names))


def _read(library: Library, names: Sequence[str]) -> tuple[list[ShownRun], dict[str, str]]:
    """Read runs; of damaged ones the error in a sentence."""
    shown, broken = [], {}
    for name in names:
        data = RunData(library.run(name))
        try:
            data.info  # noqa: B018 - raises where the run is damaged
            shown.append(ShownRun(name, data, settings_of(data)))
        except StratagemError as error:
            broken[name] = sentence_of(error)
    return shown, broken


def differences(shown: Sequence[ShownRun]) -> tuple[list[str], list[str]]:
    """Return the settings in which runs differ, the seed last, and those that only some of them have.

    A run of another algorithm, or of another version, has other settings.
    """
    keys = dict.fromkeys(key for run in shown for key in run.settings)
    found = [key for key in keys if len({run.settings.get(key) for run in shown}) > 1]
    partial = [key for key in found if any(key not in run.settings for run in shown)]
    return sorted((key for key in found if key not in partial), key=lambda key: key == _SEED), partial


def _labels(bands: Sequence[Mapping[str, str]], differing: Sequence[str], partial: Sequence[str]) -> list[str]:
    """Return the settings that name the bands; the first of them tell apart as many bands as they can."""

    def num_apart(keys: Sequence[str]) -> int:
        return len({tuple(band.get(key) for key in keys) for band in bands})

    rest = [key for key in differing if key != _SEED]
    if num_apart(rest) < len(bands):
        rest += partial
    ordered: list[str] = []
    while rest:
        ordered.append(max(rest, key=lambda key: num_apart([*ordered, key])))
        rest.remove(ordered[-1])
    return ordered


def _row(run: ShownRun, differing: Sequence[str]) -> Json:
    return {"name": run.name, "settings": {key: run.settings.get(key) for key in differing}}


def _metrics(shown: Sequence[ShownRun]) -> list[str]:
    names = dict.fromkeys(name for run in shown for name in run.data.curves)
    return sorted(names, key=lambda name: (_rank(name), name))


def _rank(name: str) -> int:
    return next((place for place, part in enumerate(_FIRST) if part in name), len(_FIRST))


def _metric(metric: str, shown: Sequence[ShownRun]) -> Json:
    having = [run.data for run in shown if metric in run.data.curves]
    chance = next((value for data in having if (value := chance_of(data, metric)) is not None), None)
    return {"name": metric, "unit": unit_of(having[0], metric), "chance": finite(chance)}


def _band(runs: Sequence[ShownRun], named: Sequence[str], metrics: Sequence[str]) -> Json:
    """Return the runs of one recipe: their seeds, their curves, and the mean over seeds with its interval."""
    own = [metric for metric in metrics if any(metric in run.data.curves for run in runs)]
    label = {key: runs[0].settings.get(key) for key in named}
    return {
        "label": label,
        "runs": [run.name for run in runs],
        "seeds": [run.settings.get(_SEED, "") for run in runs],
        "curves": {
            metric: {
                run.name: curve_json(run.data, metric, _POINTS) for run in runs if metric in run.data.curves
            } for metric in own
        },
        "means": {metric: mean for metric in own if (mean := _mean([run.data for run in runs], metric)) is not None},
    }  # fmt: skip


def _mean(runs: Sequence[RunData], metric: str) -> Json | None:
    """Return the mean over seeds at the steps that all have reached, with its 95 % interval; None for one seed."""
    by_step = values_by_step(runs, metric) if len(runs) > 1 else {}
    if not by_step:
        return None
    every = max(1, len(by_step) // _POINTS)
    steps = list(by_step)[::every]
    estimates = [with_interval(by_step[step]) for step in steps]
    return {
        "steps": steps,
        "mean": [finite(one.mean) for one in estimates],
        "low": [finite(one.mean if one.low is None else one.low) for one in estimates],
        "high": [finite(one.mean if one.high is None else one.high) for one in estimates],
        "n": len(runs),
    }
