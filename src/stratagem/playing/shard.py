"""Shard in the making: columns of finished episodes, which themselves need not stay in memory until it is written.

Values are appended to flat lists, and the ends of nested ones beside them, so no object is made for an episode.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from stratagem.base.errors import BadRecord
from stratagem.games.base import ActionPart, Stakes
from stratagem.language.prompting.past import Past
from stratagem.playing.calls import call_tables, size_of
from stratagem.playing.records import Episode
from stratagem.playing.rows import BEHIND, FIELDS, WIDTH, DecisionRows, Row
from stratagem.playing.schemas import DECISIONS, EPISODES

_UNIT = 16
"""Number of characters and tokens of a call that fill a shard as much as one decision."""
_BY_SEAT = ("payoffs", "num_decisions", "num_illegal")
"""Columns of episodes with a number for each seat."""
_NESTED = ("pasts", "rounds", "signals", *_BY_SEAT)
"""Columns of episodes whose values may be changed later, so that they are copied."""
_PLAIN = tuple(name for name in EPISODES.names if name not in _NESTED)
_REPEATED = ("players", "slots", "stakes")
"""Columns of lists of which few are different."""
_plain_values = attrgetter(*_PLAIN)


class Lists:
    """Column of lists in the making: the elements of all of them, and the size of each."""

    __slots__ = ("sizes", "values")

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.sizes: list[int] = []

    def append(self, some: Collection[Any]) -> None:
        """Append a list."""
        self.values += some
        self.sizes.append(len(some))

    def array(self, kind: pa.ListType) -> pa.Array:
        """Return the column."""
        return _list_array(self.sizes, pa.array(self.values, kind.value_type), kind)

    def array_of_lists(self, kind: pa.ListType) -> pa.Array:
        """Return the column, whose elements are lists themselves."""
        inner = Lists()
        inner.values += chain.from_iterable(self.values)
        inner.sizes += map(len, self.values)
        return _list_array(self.sizes, inner.array(kind.value_type), kind)


class Shard:
    """Values of the tables."""

    def __init__(self) -> None:
        self.size = 0
        """Number of decisions; those of models count for more, by the size of their calls."""
        self._ids: dict[str, int] = {}
        """Number of decisions of each episode."""
        self._plain: list[Any] = []
        """Values of `_PLAIN` of all episodes, one episode after the other."""
        self._by_seat = Lists(), Lists(), Lists()
        """Columns of `_BY_SEAT`."""
        self._rounds = Lists()
        self._signals = Lists()
        """Names of the signals of each episode."""
        self._signal_rounds = Lists()
        """Rounds of each signal."""
        self._pasts: dict[int, tuple[Past, ...]] = {}
        """Memories of earlier episodes by the number of the episode."""
        self._values: list[Any] = []
        """Values of `FIELDS` of all decisions, one decision after the other."""
        self._payoffs: list[float] = []
        self._dropped: list[int] = []
        """Numbers of the decisions whose transition is discarded."""
        self._parts: dict[int, tuple[ActionPart, ...]] = {}
        """Classified pieces of actions by the number of the decision."""
        self._advantages: dict[int, float] = {}
        """Advantages in training by the number of the decision."""
        self._talked: list[tuple[str, Row]] = []

    def add(self, episode: Episode) -> None:
        """Take the values of an episode as they are now."""
        name = episode.id
        if name in self._ids:
            raise BadRecord(f"Two episodes of one shard are called {name}: give every episode an id of its own.")
        rows = episode.rows()
        if episode.pasts:
            self._pasts[len(self._ids)] = episode.pasts
        self._ids[name] = len(rows)
        self._plain += _plain_values(episode)
        payoffs, num_decisions, num_illegal = self._by_seat
        payoffs.append(episode.payoffs)
        num_decisions.append(episode.num_decisions)
        num_illegal.append(episode.num_illegal)
        self._rounds.append(episode.rounds)
        self._signals.append(episode.signals)
        for signal in episode.signals.values():
            self._signal_rounds.append(signal)
        self._add_rows(name, rows)

    def _add_rows(self, name: str, rows: DecisionRows) -> None:
        start = len(self._payoffs)
        self._values += rows.values
        self._payoffs += rows.payoffs
        self.size += 1 + len(rows)
        if rows.dropped:
            self._dropped += [start + number for number in rows.dropped]
        if rows.parts:
            self._parts |= {start + number: parts for number, parts in rows.parts.items()}
        if rows.advantages:
            self._advantages |= {start + number: advantage for number, advantage in rows.advantages.items()}
        if rows.talked:
            talked = [(name, row) for row in rows.rows() if row[BEHIND]]
            self._talked += talked
            self.size += sum(1 + size_of(call) // _UNIT for _, row in talked for call in row[BEHIND])

    def tables(self) -> dict[str, pa.Table]:
        """Return every table by its name."""
        return {"decisions": self._decisions(), **call_tables(self._talked), "episodes": self._table()}

    def _decisions(self) -> pa.Table:
        count = len(self._payoffs)
        columns: dict[str, Any] = {
            name: self._values[place::WIDTH] for place, name in enumerate(FIELDS) if name != "calls"
        }
        numbers = np.repeat(np.arange(len(self._ids)), np.fromiter(self._ids.values(), dtype=np.int64))
        columns["episode"] = pa.array(self._ids, pa.string()).take(pa.array(numbers))
        columns["payoff"] = self._payoffs
        keep = np.ones(count, dtype=bool)
        keep[self._dropped] = False
        columns["keep"] = keep
        parts = {number: [part._asdict() for part in own] for number, own in self._parts.items()}
        columns["parts"] = _sparse_lists(count, parts, DECISIONS.field("parts").type)
        columns["advantage"] = [None] * count
        for number, advantage in self._advantages.items():
            columns["advantage"][number] = advantage
        return pa.table(columns, schema=DECISIONS)

    def _table(self) -> pa.Table:
        kinds = dict(zip(EPISODES.names, EPISODES.types, strict=True))
        columns: dict[str, Any] = {name: self._plain[place :: len(_PLAIN)] for place, name in enumerate(_PLAIN)}
        for name in _REPEATED:
            columns[name] = _encode_lists(columns[name], kinds[name])
        for name, column in zip(_BY_SEAT, self._by_seat, strict=True):
            columns[name] = column.array(kinds[name])
        columns["rounds"] = self._rounds.array_of_lists(kinds["rounds"])
        signal = kinds["signals"].value_type
        named = [pa.array(self._signals.values, signal[0].type), self._signal_rounds.array_of_lists(signal[1].type)]
        signals = pa.StructArray.from_arrays(named, fields=list(signal))
        columns["signals"] = _list_array(self._signals.sizes, signals, kinds["signals"])
        pasts = {number: [_past_row(past) for past in own] for number, own in self._pasts.items()}
        columns["pasts"] = _sparse_lists(len(self._ids), pasts, kinds["pasts"])
        return pa.table(columns, schema=EPISODES)


def _list_array(sizes: Sequence[int] | NDArray[np.int64], values: pa.Array, kind: pa.ListType) -> pa.Array:
    """Return a column of lists, from the size of each and the elements of all."""
    ends = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(sizes, out=ends[1:])
    return pa.ListArray.from_arrays(pa.array(ends), values, type=kind)


def _encode_lists(rows: Sequence[Collection[Any]], kind: pa.ListType) -> pa.Array:
    """Return a column of lists of which few are different."""
    numbers: dict[tuple[Any, ...], int] = {}
    places = [numbers.setdefault(tuple(row), len(numbers)) for row in rows]
    different = [[one._asdict() if isinstance(one, Stakes) else one for one in row] for row in numbers]
    return pa.array(different, kind).take(pa.array(places, pa.int64()))


def _sparse_lists(count: int, some: Mapping[int, list[Any]], kind: pa.ListType) -> pa.Array:
    """Return a column of lists most of which are empty."""
    lists = Lists()
    sizes = np.zeros(count, dtype=np.int64)
    for number, values in sorted(some.items()):
        lists.append(values)
        sizes[number] = len(values)
    return _list_array(sizes, pa.array(lists.values, kind.value_type), kind)


def _past_row(past: Past) -> dict[str, Any]:
    counts = [{"joint": joint, "count": count} for joint, count in past.counts.items()]
    return {"counts": counts, "last": past.last, "rounds": past.rounds}
