"""Checks of learning: updates change probabilities and weights, and advantages have the sign of returns."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stratagem.base.files import parse_json, read_small
from stratagem.base.manifest import FILE
from stratagem.playing.store import read_columns
from stratagem.show.viewer.checks.base import MOST_PLACES, CheckResult, DefectiveDecision, Source
from stratagem.show.viewer.decision_index import ShardIndex
from stratagem.show.viewer.episode_index import Array

_FEW = 3
"""Number of replies met again under which nothing is said."""
_NOISE = 1e-6
"""Difference of log-probabilities that a batch alone can make in single precision."""
_COLUMNS = ("episode", "turn", "seat", "attempt", "index", "base", "adapter", "version", "prompt", "tokens")


class _MetAdapter(NamedTuple):
    version: int
    logprob: float
    place: Any


def adapters(source: Source) -> CheckResult:
    """Compare the probabilities of equal replies to equal prompts before and after updates; then the weights."""
    met = _logprobs_met(source)
    still = {
        name: pairs
        for name, pairs in met.items()
        if len(pairs) >= _FEW and all(abs(one - two) < _NOISE for one, two, _ in pairs)
    }
    places = [
        DefectiveDecision(place, f"Adapter {name!r}: the probability is the same as before its updates.")
        for name, pairs in still.items()
        for *_, place in pairs[:5]
    ]
    weights = equal_weights(source.run.checkpoints) if source.run else []
    if places or weights:
        told = [f"{len(pairs)} replies met again are as likely as before." for pairs in still.values()]
        return CheckResult("fault", " ".join(["An adapter does not change.", *told, *weights]), len(still) or 1, places)
    if any(len(pairs) >= _FEW for pairs in met.values()):
        return CheckResult("passed", f"Updates changed the probabilities of {sum(map(len, met.values())):,} replies.")
    return CheckResult("not checked", "No reply was given again after an update, so nothing can be compared.")


def _logprobs_met(source: Source) -> dict[str, list[tuple[float, float, Any]]]:
    """Return for each adapter the log-probabilities of replies that were given at different updates."""
    first: dict[tuple[str, str, tuple[int, ...]], _MetAdapter] = {}
    found: dict[str, list[tuple[float, float, Any]]] = defaultdict(list)
    for shard in source.shards:
        calls = read_columns(shard.folder, "calls", shard.number, (*_COLUMNS, "sampler_logprobs"))
        rows = shard.rows_behind(calls)
        names = ("adapter", "base", "version", "prompt", "tokens", "sampler_logprobs")
        for row, values in zip(rows, zip(*(calls[name].to_pylist() for name in names), strict=True), strict=True):
            adapter, base, version, prompt, tokens, logprobs = values
            name, logprob = adapter or base, sum(logprobs)
            if row < 0 or logprob == 0.0:
                continue
            key = (name, prompt, tuple(tokens))
            before = first.setdefault(key, _MetAdapter(version, logprob, None))
            if before.version != version:
                found[name].append((before.logprob, logprob, shard.where(int(row))))
    return found


def equal_weights(checkpoints: Path) -> list[str]:
    """Return a sentence for each file of weights where all are the same in the first and the last kept checkpoint."""
    folders = sorted(path for path in checkpoints.glob("step-*") if path.is_dir())
    manifests = [(folder.name, digests_of(folder)) for folder in folders]
    manifests = [(name, files) for name, files in manifests if files]
    if len(manifests) < 2:
        return []
    (early, before), (late, after) = manifests[0], manifests[-1]
    return [f"{file} is the same in {early} and {late}." for file in before] if after == before else []


def digests_of(folder: Path) -> dict[str, Any]:
    """Return the digests of weights by file, from the manifest of a checkpoint."""
    try:
        files = parse_json(read_small(folder / FILE))["files"]
        return {name: entry for name, entry in files.items() if name.endswith(".safetensors") and "state" not in name}
    except (OSError, ValueError, KeyError, AttributeError):
        return {}


_FEW_DECISIONS = 8
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
    if len(rows) < _FEW_DECISIONS:
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
