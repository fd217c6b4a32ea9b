"""What a table of steps holds, game by game: how much was said, how much of it was legal, new, and advantageous."""

from __future__ import annotations

from typing import Any

import numpy as np

from stratagem.algorithms.scopal.steps import Steps
from stratagem.games.base import Json


def summed_up(steps: Steps) -> Json:
    """Each game's figures and those of all games together (SCO-PAL, tables 8 and 10)."""
    rows = steps.rows
    games = np.array(rows["game"].to_pylist())
    columns = {name: rows[name].to_numpy() for name in ("count", "desirable")}
    columns["legal"] = ~np.asarray(rows["action"].is_null().to_numpy())
    columns["action"] = np.array(rows["action"].to_pylist(), dtype=object)
    named = {
        game: _figures({name: column[games == game] for name, column in columns.items()})
        for game in dict.fromkeys(games)
    }
    return {"games": named, "all": _figures(columns)}


def _figures(columns: dict[str, Any]) -> dict[str, float]:
    """Samples are counted as often as they were said."""
    count, good, legal = columns["count"], columns["desirable"], columns["legal"]
    advantageous = int(count[good].sum())
    worse = int(count.sum()) - advantageous
    found: Json = {
        "samples": int(count.sum()),
        "valid": float(count[legal].sum() / count.sum()),
        "rows": len(count),
        "unique_actions": len({action for action in columns["action"] if action is not None}),
        "advantageous": advantageous,
        "ratio": advantageous / worse if worse else None,
    }
    return found
