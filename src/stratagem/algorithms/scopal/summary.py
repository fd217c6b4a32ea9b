"""Summary of a table of steps by game: samples, and the shares of legal, distinct and advantageous replies."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from stratagem.algorithms.scopal.steps import Steps
from stratagem.games.base import Json


def summarize(steps: Steps) -> Json:
    """Return the figures of each game and of all games together (SCO-PAL, tables 8 and 10)."""
    rows = steps.rows.select(["game", "action", "count", "desirable"])
    named = {game: _figures(rows.filter(pc.equal(rows["game"], game))) for game in rows["game"].unique().to_pylist()}
    return {"games": named, "all": _figures(rows)}


def _figures(rows: pa.Table) -> dict[str, float]:
    """Count samples by their frequency."""
    samples = pc.sum(rows["count"]).as_py()
    legal = pc.sum(rows.filter(pc.is_valid(rows["action"]))["count"]).as_py() or 0
    advantageous = pc.sum(rows.filter(rows["desirable"])["count"]).as_py() or 0
    summary: Json = {
        "samples": samples,
        "valid": legal / samples,
        "rows": len(rows),
        "unique_actions": pc.count_distinct(rows["action"]).as_py(),
        "advantageous": advantageous,
        "ratio": advantageous / (samples - advantageous) if samples > advantageous else None,
    }
    return summary
