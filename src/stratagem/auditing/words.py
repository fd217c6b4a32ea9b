"""Sentences of a card: the verdict, and one on how each figure was measured."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from stratagem.auditing.card import Card
from stratagem.auditing.figure import LEVEL, Figure


def verdict(card: Card) -> Sequence[str]:
    """Return what stands at the top: the alarms, and how many tests they survived."""
    tests = sum(figure.p is not None for figure in card.figures)
    if not card.alarms:
        return [f"No alarm. {tests} nulls were tested at {LEVEL:.0%}, with Holm's correction; none was rejected."]
    lines = [f"{figure.name}: it is not true that {figure.null}." for figure in card.alarms]
    return [f"{len(lines)} of {tests} tests and observations raise an alarm.", *lines]


def ends(figure: Figure) -> str:
    """Return the interval in figures, or its one end."""
    if figure.lower is None and figure.upper is None:
        return "–"
    if figure.upper is None:
        return f"≥ {figure.lower:.3f}"
    if figure.lower is None:
        return f"≤ {figure.upper:.3f}"
    return f"{max(figure.lower, 0.0) if abs(figure.lower) < 1e-9 else figure.lower:.3f} … {figure.upper:.3f}"


def sentence(figure: Figure) -> str:
    """Return how a figure was measured, its null and its example."""
    if figure.why_not:
        return f"Not measured: {figure.why_not}"
    parts = [figure.method]
    if figure.interval:
        parts.append(f"Limits: {figure.interval}.")
    if figure.null:
        parts.append(f"Null: {figure.null}." if figure.p is None else f"Null: {figure.null} (p = {figure.p:.4f}).")
    if figure.example:
        parts.append(figure.example)
    if figure.episode and figure.record:
        parts.append(f"Replay: stratagem show FOLDER/{figure.record} --episode {shlex.quote(figure.episode)}")
    return " ".join(part for part in parts if part)
