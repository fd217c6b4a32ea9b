"""Columns of the episodes of a record as arrays, by which a hundred thousand of them are listed in a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from stratagem.playing.schemas import EPISODES
from stratagem.playing.store import read_columns, shards

Array = NDArray[Any]
Outcome = Literal["won", "lost", "drawn", "unfinished"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
WON, LOST, DRAWN, UNFINISHED = range(len(OUTCOMES))
_COLUMNS = (
    "id", "game", "players", "slots", "purpose", "parent", "finished", "payoffs", "num_decisions", "num_illegal",
)  # fmt: skip
_SHARD = pa.field("shard", pa.int64())
_NO_EPISODES = pa.schema([*map(EPISODES.field, _COLUMNS), _SHARD]).empty_table()
_SHARDS = 4096
"""Number of shards whose columns are kept."""
_RECORDS = 8
"""Number of records whose columns are kept as one table."""


@dataclass(frozen=True, eq=False)
class CodedTexts:
    """Texts as codes."""

    codes: Array
    names: Sequence[str]
    """Different texts in the order in which they first stand."""

    def equal(self, name: str) -> Array:
        """Return where a text stands; nowhere if it is unknown."""
        found: Array = self.codes == (self.names.index(name) if name in self.names else -1)
        return found

    def counts(self, rows: Array | None = None) -> dict[str, int]:
        """Return the number of rows of each text."""
        numbers = np.bincount(self.codes if rows is None else self.codes[rows], minlength=len(self.names))
        return {name: int(number) for name, number in zip(self.names, numbers, strict=True) if number}


class EpisodeRow(NamedTuple):
    """Episode of a list."""

    id: str
    game: str
    players: tuple[str, ...]
    slots: tuple[int, ...]
    purpose: str
    parent: str
    finished: bool
    payoffs: tuple[float, ...]
    num_decisions: tuple[int, ...]
    num_illegal: tuple[int, ...]
    shard: int


@dataclass(frozen=True, eq=False)
class EpisodeIndex:
    """Columns of episodes in the order of play."""

    table: pa.Table
    """Each column in one piece."""

    def __len__(self) -> int:
        return len(self.table)

    def rows(self, places: Sequence[int] | Array | None = None) -> list[EpisodeRow]:
        """Return some episodes, by default all."""
        taken = self.table if places is None else self.table.take(pa.array(places, pa.int64()))
        columns = [[_plain(value) for value in taken[name].to_pylist()] for name in EpisodeRow._fields]
        return list(map(EpisodeRow._make, zip(*columns, strict=True)))

    def take(self, places: Sequence[int]) -> EpisodeIndex:
        """Return the index of some episodes."""
        return EpisodeIndex(self.table.take(pa.array(places, pa.int64())).combine_chunks())

    def column(self, name: str) -> Any:
        """Return a column in one piece."""
        return as_array(self.table[name])

    def place_of(self, name: str) -> int:
        """Return the place of the episode of this id; -1 where there is none."""
        place: int = pc.index(self.ids, pa.scalar(name, pa.string())).as_py()
        return place

    @cached_property
    def ids(self) -> pa.Array:
        """Ids of the episodes."""
        return self.column("id")

    @cached_property
    def games(self) -> CodedTexts:
        """Game of each episode."""
        return encode_column(self.column("game"))

    @cached_property
    def purposes(self) -> CodedTexts:
        """Purpose of each episode."""
        return encode_column(self.column("purpose"))

    @cached_property
    def players(self) -> CodedTexts:
        """Player of each seat, one episode after the other."""
        return encode_column(flatten_lists(self.table, "players")[1])

    @cached_property
    def owner(self) -> Array:
        """Place of the episode of each seat."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def starts(self) -> Array:
        """Number of the first seat of each episode, and that of all seats."""
        return flatten_lists(self.table, "players")[0]

    @cached_property
    def leads(self) -> Array:
        """True for each seat of the first player of the match."""
        first: Array = flatten_lists(self.table, "slots")[1].to_numpy() == 0
        return first

    @cached_property
    def illegal(self) -> Array:
        """True for each episode with a turn without a legal reply."""
        return self.count_seats(flatten_lists(self.table, "num_illegal")[1].to_numpy() > 0) > 0

    def count_seats(self, chosen: Array) -> Array:
        """Return the number of chosen seats of each episode."""
        return np.bincount(self.owner[chosen], minlength=len(self))

    def outcomes(self, player: str = "") -> Array:
        """Return the outcome of each episode for a player, by default the first of the match, as a place in `OUTCOMES`.

        The best of its seats is compared with the best of the others. Without either the outcome is a draw.
        """
        own = self.players.equal(player) if player else self.leads
        payoffs = flatten_lists(self.table, "payoffs")[1].to_numpy()
        mine, theirs = (self._largest(np.where(some, payoffs, -np.inf)) for some in (own, ~own))
        count = self.count_seats(own)
        drawn = (count == 0) | (count == np.diff(self.starts)) | (mine == theirs)
        known = np.select([drawn, mine > theirs], [DRAWN, WON], LOST)
        finished = self.column("finished").to_numpy(zero_copy_only=False)
        return np.where(finished, known, UNFINISHED).astype(np.int8)

    def _largest(self, values: Array) -> Array:
        """Return the largest value among the seats of each episode."""
        result = np.full(len(self), -np.inf)
        some = np.diff(self.starts) > 0
        if some.any():
            result[some] = np.maximum.reduceat(values, self.starts[:-1][some])
        return result

    def lineups(self) -> list[tuple[str, ...]]:
        """Return the different players by seat, in the order of the last episode of each."""
        sizes, last = np.diff(self.starts), dict[tuple[int, ...], int]()
        for size in np.unique(sizes[sizes > 0]):
            own = np.flatnonzero(sizes == size)
            seats = self.players.codes[self.starts[own][:, None] + np.arange(size)]
            different, places = np.unique(seats[::-1], axis=0, return_index=True)
            last |= {(*row.tolist(),): int(own[::-1][place]) for row, place in zip(different, places, strict=True)}
        return [tuple(self.players.names[code] for code in codes) for codes in sorted(last, key=last.__getitem__)]

    def games_of_players(self) -> list[tuple[str, str]]:
        """Return the different games with a player of each, in the order of play."""
        pairs = self.games.codes[self.owner].astype(np.int64) * len(self.players.names) + self.players.codes
        _, places = np.unique(pairs, return_index=True)
        games, players = self.games.codes[self.owner], self.players.codes
        return [(self.games.names[games[place]], self.players.names[players[place]]) for place in np.sort(places)]


def episodes_of(folder: Path) -> EpisodeIndex:
    """Return the index of all episodes of a record."""
    return _episodes(folder, tuple((number, *stamp(folder, number)) for number in shards(folder)))


def episodes_of_shard(folder: Path, number: int) -> EpisodeIndex:
    """Return the index of the episodes of one shard."""
    return EpisodeIndex(_shard(folder, number, *stamp(folder, number)))


@lru_cache(maxsize=_RECORDS)
def _episodes(folder: Path, stamps: tuple[tuple[int, int, int], ...]) -> EpisodeIndex:
    return EpisodeIndex(pa.concat_tables([_NO_EPISODES, *(_shard(folder, *one) for one in stamps)]).combine_chunks())


@lru_cache(maxsize=_SHARDS)
def _shard(folder: Path, number: int, modified: int, size: int) -> pa.Table:
    table = read_columns(folder, "episodes", number, _COLUMNS).select(_COLUMNS).combine_chunks()
    own = pa.array(np.full(len(table), number, dtype=np.int64))
    return table.append_column(_SHARD, own).cast(_NO_EPISODES.schema)


def stamp(folder: Path, number: int) -> tuple[int, int]:
    """Return what changes when a shard is replaced."""
    status = (folder / "episodes" / f"{number:06d}.parquet").stat()
    return status.st_mtime_ns, status.st_size


def as_array(column: Any) -> Any:
    """Return a column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def encode_column(column: Any) -> CodedTexts:
    """Return the texts of a column as codes."""
    encoded = as_array(column).dictionary_encode()
    return CodedTexts(encoded.indices.to_numpy().astype(np.int32), encoded.dictionary.to_pylist())


def flatten_lists(table: pa.Table, name: str) -> tuple[Array, Any]:
    """Return where the values of each row begin in a column of lists, with all its values."""
    column = as_array(table[name])
    sizes = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), column.flatten()


def _plain(value: Any) -> Any:
    """Make lists tuples."""
    return tuple(map(_plain, value)) if isinstance(value, list) else value
