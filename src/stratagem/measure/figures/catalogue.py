"""Catalogue of figures: the metrics of suites, and all that is measured beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.base.renamed.metrics import present_metric
from stratagem.measure.figures.audits import OF_AUDITS
from stratagem.measure.figures.declared import DECLARED
from stratagem.measure.figures.figure import Figure
from stratagem.measure.metrics import METRICS

_BY_KEY = {figure.key: figure for figure in (*DECLARED, *OF_AUDITS)}


def find_figure(key: str) -> Figure:
    """Return the figure of a key, or of its former key; a metric of another package or of a file is one, too."""
    if key in METRICS:
        key = METRICS.present_name(key)
        declared = METRICS[key].declaration()
        return declared if declared.key == key else replace(declared, key=key, label=key)
    if (present := present_metric(key)) not in _BY_KEY:
        raise UnknownName("figure", key, [*_BY_KEY, *METRICS])
    return _BY_KEY[present]


def stored_figure(key: str) -> Figure:
    """Return the figure of a key in a file; one of another package or of a file of somebody's may have its key alone.

    The key of a stranger loads no file.
    """
    try:
        return find_figure(key) if ":" not in key or METRICS.is_made(key) else Figure(key, key)
    except StratagemError:
        return Figure(key, key)


def figures_of(*keys: str) -> tuple[Figure, ...]:
    """Return the figures of several keys."""
    return tuple(map(find_figure, keys))


def all_figures() -> Iterator[Figure]:
    """Yield the metrics, then the figures that are no metric of a suite, and those of audits."""
    yield from (metric.declaration() for metric in METRICS.values())
    yield from (figure for figure in _BY_KEY.values() if figure.key not in METRICS)
