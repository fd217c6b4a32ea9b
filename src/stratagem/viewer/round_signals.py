"""Safety signals of a shard, round by round, for each decision."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow.compute as pc

from stratagem.play.store import read_columns
from stratagem.viewer.decision_index import Array, ShardIndex


def names_of(shard: ShardIndex) -> list[str]:
    """Return the names of the signals that a shard has."""
    signals = _signals(shard)
    return [str(name) for name in pc.unique(pc.struct_field(signals.flatten(), "name")).to_pylist()]


def signal_of(shard: ShardIndex, name: str) -> Array:
    """Return a signal of the round and the seat of each decision; 0 where it has no meaning."""
    signals = _signals(shard)
    every = signals.flatten()
    named = pc.equal(pc.struct_field(every, "name"), name).to_numpy(zero_copy_only=False)
    sizes = pc.list_value_length(signals).to_numpy(zero_copy_only=False)
    place = np.full(len(signals), -1, dtype=np.int64)
    place[np.repeat(np.arange(len(signals)), sizes)[named]] = np.flatnonzero(named)
    rounds = pc.struct_field(every, "rounds")
    values = pc.fill_null(rounds.flatten().flatten(), 0.0).to_numpy(zero_copy_only=False)
    outer, inner = _starts(rounds), _starts(rounds.flatten())
    own = place[shard.episode]
    result = np.zeros(len(shard))
    some = own >= 0
    number = shard.round[some] - _first_rounds(shard, len(signals))[shard.episode[some]]
    row = outer[own[some]] + number
    inside = (number >= 0) & (row < outer[own[some] + 1])
    rows = np.flatnonzero(some)[inside]
    at = inner[row[inside]] + shard.seat[rows]
    known = at < inner[row[inside] + 1]
    result[rows[known]] = values[at[known]]
    return result


def _first_rounds(shard: ShardIndex, episodes: int) -> Array:
    """Return the number of the first round of each episode; a branch begins in the round in which it was forked."""
    first = np.zeros(episodes, dtype=np.int64)
    held, rows = np.unique(shard.episode, return_index=True)
    first[held] = shard.round[rows]
    return first


def _starts(lists: Any) -> Array:
    """Return where the values of each list begin, and the end."""
    return np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy(zero_copy_only=False))]).astype(np.int64)


@lru_cache(maxsize=64)
def _signals(shard: ShardIndex) -> Any:
    return read_columns(shard.folder, "episodes", shard.number, ("signals",))["signals"].combine_chunks()
