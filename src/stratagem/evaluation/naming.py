"""Results of an evaluation under other names: a run's models by their labels, wherever the run lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from stratagem.evaluation.evaluate import GameResult, Row


def under_names(results: Sequence[GameResult], names: Mapping[str, str]) -> list[GameResult]:
    """Rename players, as in `{"run:runs/demo@best": "run:.@best"}`; the figures stay as they are."""
    return [_result(result, names) for result in results]


def _result(result: GameResult, names: Mapping[str, str]) -> GameResult:
    return replace(
        result,
        rows=tuple(_row(row, names) for row in result.rows),
        differences={names.get(name, name): difference for name, difference in result.differences.items()},
        warnings=tuple(_told(warning, names) for warning in result.warnings),
    )


def _row(row: Row, names: Mapping[str, str]) -> Row:
    return replace(row, player=names.get(row.player, row.player))


def _told(warning: str, names: Mapping[str, str]) -> str:
    """Return a warning begins with the player that it is about."""
    about = next((name for name in names if warning.startswith(f"{name}: ")), None)
    return warning if about is None else names[about] + warning.removeprefix(about)
