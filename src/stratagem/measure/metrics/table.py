"""Table of metrics: a mapping that loads other packages' metrics on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import get_args

from stratagem.base.errors import BadParameter, BrokenEntry
from stratagem.base.registry import Registry, parse_call
from stratagem.base.renamed.metrics import present_metric
from stratagem.measure.figures.figure import Better
from stratagem.measure.metrics.base import Metric, Sample
from stratagem.measure.statistics import Estimate


class MetricTable(MutableMapping[str, Metric]):
    """Metrics by name, each made once; a broken one is left out of lists and raises its error on access."""

    def __init__(self, table: Mapping[str, Callable[[], Metric]]) -> None:
        self._registry: Registry[Metric] = Registry("metric", table, "stratagem.metrics", Metric)
        self._made: dict[str, Metric] = {}

    def __getitem__(self, name: str) -> Metric:
        if name not in self._made:
            call = parse_call(name)
            if call.name not in self._registry:
                if (present := present_metric(name)) == name:
                    raise KeyError(name)
                return self[present]
            self._made[name] = _check_metric(name, self._registry.make(call))
        return self._made[name]

    def __setitem__(self, name: str, metric: Metric) -> None:
        self._made[name] = metric

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        plain = (name for name in self._made if "(" not in name)  # a metric with options is not one more metric
        return (name for name in dict.fromkeys([*self._registry.names(), *plain]) if self._works(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def present_name(self, name: str) -> str:
        """Return the present name of a metric that was renamed; one of somebody else may have the old name."""
        return name if name in self._made or parse_call(name).name in self._registry else present_metric(name)

    def is_made(self, name: str) -> bool:
        """Return whether a metric was made before, so that its name loads no file."""
        return name in self._made

    def measure(self, name: str, sample: Sample) -> Estimate | None:
        """Return the figure by the metric of this name; a metric of the user's own may return something else."""
        figure: object = self[name].measure(sample)
        if figure is None or (isinstance(figure, Estimate) and _has_numbers(figure)):
            return figure
        raise BadParameter(f"The metric {name} returned {figure!r}: it must return an Estimate of numbers, or None.")

    def null(self, name: str, sample: Sample) -> float | None:
        """Return the figure under the null hypothesis by the metric of this name, under the same condition."""
        level: object = self[name].null(sample)
        if level is None or isinstance(level, float | int):
            return level
        raise BadParameter(f"`null` of the metric {name} returned {level!r}: it must return a number, or None.")

    def _works(self, name: str) -> bool:
        try:
            return name in self
        except BrokenEntry:
            return False


def _check_metric(name: str, metric: Metric) -> Metric:
    """Refuse a metric that lacks a declaration, which tables and reports read."""
    better = getattr(metric, "better", None)
    if better not in get_args(Better):
        said = "nothing" if better is None else repr(better)
        raise BadParameter(f"The metric {name} must declare `better` as 'higher', 'lower' or 'neither', not {said}.")
    if not isinstance(getattr(metric, "name", None), str):
        raise BadParameter(f"The metric {name} must declare its `name`.")
    return metric


def _has_numbers(estimate: Estimate) -> bool:
    """Return whether the mean is a number, and whatever else is given."""
    given = (value for value in (estimate.se, estimate.low, estimate.high) if value is not None)
    return all(isinstance(value, float | int) for value in (estimate.mean, *given))
