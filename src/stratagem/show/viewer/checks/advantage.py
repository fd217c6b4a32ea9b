"""Check of the sign of advantages: a decision with a larger return than others of its group has a larger advantage."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stratagem.show.viewer.checks.base import MOST_PLACES, CheckResult, DefectiveDecision, Source
from stratagem.show.viewer.decision_index import ShardIndex
from stratagem.show.viewer.episode_index import Array

_FEW = 8
"""Number of decisions with an advantage under which nothing is said."""
_WRONG = -0.3
"""Correlation from which the sign counts as wrong."""


class _Part(NamedTuple):
    shard: ShardIndex
    rows: Array
    advantage: Array
    better: Array
    """Return less the mean of the group and the seat."""


def advantage_sign(source: Source) -> CheckResult:
    """Correlate advantages with returns, less the mean of the group and the seat, step by step."""
    parts = [part for shard in source.shards if (part := _part(shard)) is not None]
    if not parts:
        return CheckResult("not checked", "No decision has an advantage, or no group has different returns.")
    by_step = {part.shard.number: _correlation(part.advantage, part.better) for part in parts}
    whole = _correlation(
        np.concatenate([part.advantage for part in parts]), np.concatenate([part.better for part in parts])
    )
    told = f"The correlation of advantage and return within a group is {whole:.2f}"
    wrong = [step for step, value in by_step.items() if value < _WRONG]
    if whole >= _WRONG and len(wrong) <= len(by_step) // 2:
        return CheckResult("passed", f"{told}.")
    places = [place for part in parts if part.shard.number in wrong for place in _places(part)]
    return CheckResult("fault", f"{told}: decisions that won are made less likely.", len(places), places[:MOST_PLACES])


def _part(shard: ShardIndex) -> _Part | None:
    rows = np.flatnonzero(np.isfinite(shard.advantage))
    if len(rows) < _FEW:
        return None
    group = np.unique(shard.group[rows].astype(np.int64) * 256 + shard.seat[rows], return_inverse=True)[1]
    mean = np.bincount(group, shard.returns[rows]) / np.bincount(group)
    better = shard.returns[rows] - mean[group]
    return _Part(shard, rows, shard.advantage[rows].astype(float), better) if np.ptp(better) > 0.0 else None


def _correlation(one: Array, other: Array) -> float:
    return float(np.corrcoef(one, other)[0, 1]) if np.ptp(one) > 0.0 and np.ptp(other) > 0.0 else 0.0


def _places(part: _Part) -> list[DefectiveDecision]:
    """Return the decisions whose advantage is most at odds with their return."""
    against = part.advantage * part.better
    return [
        DefectiveDecision(
            part.shard.where(int(part.rows[place])),
            f"Return {part.better[place]:+.2f} against its group, and advantage {part.advantage[place]:+.2f}.",
        )
        for place in np.argsort(against)
        if against[place] < 0.0
    ]
