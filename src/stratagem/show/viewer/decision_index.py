"""Decisions of a shard as arrays, by which a record of a million decisions is searched in a fraction of a second."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stratagem.base.errors import BadRecord
from stratagem.games.base import Json
from stratagem.playing.store import read_columns, shards
from stratagem.show.viewer.episode_index import (
    DRAWN,
    LOST,
    UNFINISHED,
    WON,
    Array,
    CodedTexts,
    encode_column,
    flatten_lists,
    stamp,
)

_EPISODES = ("id", "game", "players", "purpose", "finished", "payoffs", "group")
_DECISIONS = ("episode", "round", "turn", "seat", "attempt", "how", "payoff", "advantage")
_CALLS = ("episode", "turn", "seat", "attempt", "sampler_logprobs")
_READERS = 4
_KEPT = 512
"""Number of shards that are kept: about 50 bytes a decision."""


@dataclass(frozen=True, eq=False)
class ShardIndex:
    """Columns of the decisions of a shard, in its order."""

    folder: Path
    number: int
    ids: pa.Array
    """Ids of the episodes."""
    episode: Array
    """Place of the decision's episode among the ids."""
    place: Array
    """Position in the replay: number of turns of the episode up to this one."""
    round: Array
    turn: Array
    seat: Array
    attempt: Array
    payoff: Array
    advantage: Array
    """Not a number where it was not trained on."""
    probability: Array
    """Probability of the reply under its sampling distribution; not a number without a call."""
    outcome: Array
    """Outcome for the seat, as a place in `OUTCOMES`."""
    how: CodedTexts
    player: CodedTexts
    game: CodedTexts
    purpose: CodedTexts
    group: Array
    """Code of the episode's group."""
    returns: Array
    """Return of the episode for the seat."""

    def __len__(self) -> int:
        return len(self.turn)

    def rows_behind(self, calls: pa.Table) -> Array:
        """Return the number of the decision behind each call; -1 where there is none."""
        return rows_behind(calls, self.ids, self.episode, self.key, self.folder)

    @property
    def key(self) -> Mapping[str, Array]:
        """Key of the decisions within their episodes."""
        return {name: getattr(self, name) for name in _KEY}

    def where(self, row: int) -> Json:
        """Return where a decision is: its episode, its place in the replay, and its seat."""
        return {
            "episode": self.ids[int(self.episode[row])].as_py(),
            "step": self.number,
            "place": int(self.place[row]),
            "seat": int(self.seat[row]),
            "attempt": int(self.attempt[row]),
        }

    @property
    def illegal(self) -> Array:
        """Return where no legal reply was given."""
        return self.how.equal("illegal") | self.how.equal("error") | self.how.equal("absent")


def index_of(folder: Path) -> list[ShardIndex]:
    """Return the indices of all shards of a record."""
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda number: _index(folder, number, *stamp(folder, number)), shards(folder)))


@lru_cache(maxsize=_KEPT)
def _index(folder: Path, number: int, modified: int, size: int) -> ShardIndex:
    episodes = read_columns(folder, "episodes", number, _EPISODES).combine_chunks()
    rows = read_columns(folder, "decisions", number, _DECISIONS).combine_chunks()
    ids = episodes["id"].combine_chunks()
    own = _codes_in(rows["episode"], ids, folder)
    columns = {name: rows[name].to_numpy() for name in ("round", "turn", "seat", "attempt", "payoff")}
    starts, players = flatten_lists(episodes, "players")
    returns = flatten_lists(episodes, "payoffs")[1].to_numpy()
    outcome = _outcomes(starts, returns, episodes["finished"].to_numpy())
    if len(outcome) != len(players) or (len(rows) and not _inside(columns["seat"], np.diff(starts)[own])):
        raise BadRecord(f"Shard {number} of {folder} has decisions of seats that its episodes do not have.")
    held = starts[own] + columns["seat"]
    return ShardIndex(
        folder=folder,
        number=number,
        ids=ids,
        episode=own,
        place=_places(own, columns["turn"]),
        advantage=rows["advantage"].to_numpy().astype(np.float32),
        probability=_probabilities(folder, number, ids, own, columns),
        outcome=outcome[held],
        how=encode_column(rows["how"]),
        player=_take_rows(encode_column(players), held),
        game=_take_rows(encode_column(episodes["game"]), own),
        purpose=_take_rows(encode_column(episodes["purpose"]), own),
        group=encode_column(episodes["group"]).codes[own],
        returns=returns[held],
        **columns,
    )


def _codes_in(names: pa.ChunkedArray, ids: pa.Array, folder: Path) -> Array:
    codes = pc.index_in(names, value_set=ids)
    if codes.null_count:
        raise BadRecord(f"{folder} has decisions of episodes that it does not have.")
    places: Array = codes.to_numpy().astype(np.int64)
    return places


def _inside(seats: Array, sizes: Array) -> bool:
    return bool(((seats >= 0) & (seats < sizes)).all())


def _outcomes(starts: Array, payoffs: Array, finished: Array) -> Array:
    """Return the outcome of each seat: its return against the largest of the others."""
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if not len(owner):
        return np.zeros(0, dtype=np.int8)
    first = _largest(starts, payoffs)
    leads = payoffs == first[owner]
    single = np.bincount(owner, leads, len(first))[owner] == 1
    second = _largest(starts, np.where(leads, -np.inf, payoffs))
    others = np.where(leads & single, second[owner], first[owner])
    alone = np.diff(starts)[owner] == 1
    result = np.select([alone | (payoffs == others), payoffs > others], [DRAWN, WON], LOST)
    return np.where(np.asarray(finished, dtype=bool)[owner], result, UNFINISHED).astype(np.int8)


def _largest(starts: Array, values: Array) -> Array:
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    result = np.full(len(starts) - 1, -np.inf)
    np.maximum.at(result, owner, values)
    return result


def _places(episode: Array, turn: Array) -> Array:
    """Return the number of different turns up to each decision; the decisions of an episode stand together."""
    if not len(turn):
        return turn.astype(np.int64)
    fresh = np.concatenate([[True], episode[1:] != episode[:-1]])
    moved = fresh | np.concatenate([[True], turn[1:] != turn[:-1]])
    count = np.cumsum(moved)
    earlier = np.repeat(count[fresh] - 1, np.diff(np.append(np.flatnonzero(fresh), len(turn))))
    places: Array = count - earlier
    return places


def _take_rows(coded: CodedTexts, places: Array) -> CodedTexts:
    return CodedTexts(coded.codes[places], coded.names)


def rows_behind(calls: pa.Table, ids: pa.Array, episode: Array, columns: Mapping[str, Array], folder: Path) -> Array:
    """Return the number of the decision behind each call; -1 where there is none."""
    if not len(episode):
        return np.full(len(calls), -1)
    keys = _keys(episode, columns)
    order = np.argsort(keys, kind="stable")
    asked = _keys(_codes_in(calls["episode"], ids, folder), {name: calls[name].to_numpy() for name in _KEY})
    found = np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)
    return np.where(keys[order][found] == asked, order[found], -1)


def _probabilities(folder: Path, number: int, ids: pa.Array, own: Array, columns: Mapping[str, Array]) -> Array:
    """Return the probability of the last reply of each decision."""
    result = np.full(len(own), np.nan, dtype=np.float32)
    calls = read_columns(folder, "calls", number, _CALLS).combine_chunks()
    if not len(calls):
        return result
    rows = rows_behind(calls, ids, own, columns, folder)
    starts, logprobs = flatten_lists(calls, "sampler_logprobs")
    lengths = np.diff(starts)
    sums = np.bincount(np.repeat(np.arange(len(calls)), lengths), logprobs.to_numpy(), len(calls))
    told = np.exp(np.minimum(0.0, sums))
    known = (rows >= 0) & (lengths > 0)
    result[rows[known]] = told[known]
    return result


_KEY = ("turn", "seat", "attempt")


def _keys(episode: Array, columns: Mapping[str, Array]) -> Array:
    """Return one number for each key of a decision."""
    keys = episode.astype(np.int64)
    for name, bits in zip(_KEY, (24, 7, 7), strict=True):
        keys = (keys << bits) + columns[name].astype(np.int64)
    return keys
