"""Titles and descriptions of the metrics of training that have a picture of their own."""

from __future__ import annotations

from typing import NamedTuple

from stratagem.measure.figures.training import NATS, training_figure

_LOSS = "loss"
_GROUPS = (_LOSS, "advantage", "overlap", "signal", "checks")
"""First words of names that are no owner."""


class MetricNameParts(NamedTuple):
    """Parts of the name of a metric of training."""

    owner: str
    part: str
    """Part of the loss."""
    name: str


def split_name(metric: str) -> MetricNameParts:
    """Split the name of a metric of training."""
    first, _, rest = metric.partition("/")
    owner, name = ("", metric) if not rest or first in _GROUPS else (first, rest)
    words = name.split("/")
    if words[0] == _LOSS and len(words) > 2:
        return MetricNameParts(owner, "/".join(words[1:-1]), f"{_LOSS}/{words[-1]}")
    return MetricNameParts(owner, "", name)


def title_of(metric: str) -> tuple[str, str]:
    """Return the title, without the owner, and the description of a metric; the whole name where it has none."""
    _, part, name = split_name(metric)
    figure = training_figure(name)
    if figure is None:
        return metric, ""
    title = f"{figure.label}, {part}" if part else figure.label
    unit = f", in {figure.unit}" if figure.unit in ("nats", NATS) else ""
    return title, f"{figure.explanation[:1].upper()}{figure.explanation[1:].replace('`', '')}{unit}."
