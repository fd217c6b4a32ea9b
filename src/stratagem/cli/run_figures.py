"""Figures of a run for a terminal: the headline as a table, and curves as lines of blocks."""

from __future__ import annotations

from collections.abc import Sequence

from stratagem.reports.main_figures import MainFigure
from stratagem.reports.numbers import short

_BLOCKS = "▁▂▃▄▅▆▇█"
_ARROWS = {"higher": " ↑", "lower": " ↓"}


def sparkline(values: Sequence[float], width: int = 24) -> str:
    """Return the course of values in blocks, thinned to a width; the last value is always there."""
    count = min(width, len(values))
    shown = [values[round(place * (len(values) - 1) / max(1, count - 1))] for place in range(count)]
    low, high = min(shown, default=0.0), max(shown, default=0.0)
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((value - low) / (high - low) * top) if high > low else top // 2] for value in shown)


def figure_line(figure: MainFigure) -> str:
    """Describe a main figure in a line: start, best checkpoint, newest value, and chance level."""
    parts = [f"{short(figure.start[1])} at step {figure.start[0]}"]
    if figure.best is not None:
        parts.append(f"{short(figure.best[1])} at the best checkpoint, step {figure.best[0]}")
    if figure.last[0] != figure.start[0]:
        parts.append(f"{short(figure.last[1])} at step {figure.last[0]}")
    chance = "" if figure.chance is None else f"; chance {short(figure.chance)}"
    return f"{figure_title(figure)}: {', '.join(parts)}{chance}"


def figure_title(figure: MainFigure) -> str:
    """Return the name of a figure with its game, its unit and an arrow in the better direction."""
    of = f" of {figure.game}" if figure.game else ""
    return _title(f"{figure.name}{of}", figure.unit, figure.better)


def _title(name: str, unit: str, better: str) -> str:
    return f"{name}{f', {unit}' if unit else ''}{_ARROWS[better]}"
