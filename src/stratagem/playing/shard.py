"""Shard in the making: columns of finished episodes, which themselves need not stay in memory until it is written."""

from __future__ import annotations

from itertools import chain, repeat
from operator import attrgetter
from typing import Any

import pyarrow as pa

from stratagem.base.errors import BadRecord
from stratagem.games.base import ActionPart, Stakes
from stratagem.language.prompting.past import Past
from stratagem.playing.calls import call_tables, size_of
from stratagem.playing.records import Episode
from stratagem.playing.rows import BEHIND, FIELDS, WIDTH, Row
from stratagem.playing.schemas import DECISIONS, EPISODES

_UNIT = 16
"""Number of characters and tokens of a call that fill a shard as much as one decision."""
_NESTED = ("pasts", "payoffs", "rounds", "signals", "stakes", "num_decisions", "num_illegal")
"""Columns of episodes whose values are lists and maps."""
_PLAIN = tuple(name for name in EPISODES.names if name not in _NESTED)
_plain_values = attrgetter(*_PLAIN)


class Shard:
    """Values of the tables. Tuples of plain values are nothing for the garbage collector to look at."""

    def __init__(self) -> None:
        self.size = 0
        """Number of decisions; those of models count for more, by the size of their calls."""
        self._ids: dict[str, int] = {}
        """Number of decisions of each episode."""
        self._episodes: list[tuple[Any, ...]] = []
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
        if episode.id in self._ids:
            raise BadRecord(f"Two episodes of one shard are called {episode.id}: give every episode an id of its own.")
        rows, start = episode.rows(), len(self._payoffs)
        self._ids[episode.id] = len(rows)
        self._episodes.append(_plain_values(episode) + _nested_values(episode))
        self._values += rows.values
        self._payoffs += rows.payoffs
        self.size += 1 + len(rows)
        if rows.dropped:
            self._dropped += [start + number for number in rows.dropped]
        if rows.parts:
            self._parts |= {start + number: parts for number, parts in rows.parts.items()}
        self._advantages |= {start + number: advantage for number, advantage in rows.advantages.items()}
        if rows.talked:
            talked = [(episode.id, row) for row in rows.rows() if row[BEHIND]]
            self._talked += talked
            self.size += sum(1 + size_of(call) // _UNIT for _, row in talked for call in row[BEHIND])

    def tables(self) -> dict[str, pa.Table]:
        """Return every table by its name."""
        return {"decisions": self._decisions(), **call_tables(self._talked), "episodes": self._table()}

    def _decisions(self) -> pa.Table:
        columns: dict[str, Any] = {
            name: self._values[place::WIDTH] for place, name in enumerate(FIELDS) if name != "calls"
        }
        columns["episode"] = list(chain.from_iterable(repeat(name, count) for name, count in self._ids.items()))
        columns["payoff"] = self._payoffs
        columns["keep"], columns["parts"] = [True] * len(self._payoffs), [_NO_PARTS] * len(self._payoffs)
        for number in self._dropped:
            columns["keep"][number] = False
        for number, parts in self._parts.items():
            columns["parts"][number] = [part._asdict() for part in parts]
        columns["advantage"] = [None] * len(self._payoffs)
        for number, advantage in self._advantages.items():
            columns["advantage"][number] = advantage
        return pa.table(columns, schema=DECISIONS)

    def _table(self) -> pa.Table:
        values = list(zip(*self._episodes, strict=True)) or [()] * len(EPISODES)
        columns: dict[str, Any] = dict(zip((*_PLAIN, *_NESTED), values, strict=True))
        stakes = {row: [some and Stakes(*some)._asdict() for some in row] for row in set(columns["stakes"])}
        columns["stakes"] = [stakes[row] for row in columns["stakes"]]
        columns["signals"] = [[{"name": name, "rounds": rows} for name, rows in row] for row in columns["signals"]]
        columns["pasts"] = [pasts and [_past_row(past) for past in pasts] for pasts in columns["pasts"]]
        return pa.table(columns, schema=EPISODES)


_NO_PARTS: list[dict[str, Any]] = []


def _nested_values(episode: Episode) -> tuple[Any, ...]:
    """Return the values of `_NESTED` as tuples."""
    return (
        episode.pasts,
        tuple(episode.payoffs),
        tuple(episode.rounds),
        tuple([(name, tuple(rows)) for name, rows in episode.signals.items()]),
        tuple([stakes and tuple(stakes) for stakes in episode.stakes]),
        tuple(episode.num_decisions),
        tuple(episode.num_illegal),
    )


def _past_row(past: Past) -> dict[str, Any]:
    counts = [{"joint": joint, "count": count} for joint, count in past.counts.items()]
    return {"counts": counts, "last": past.last, "rounds": past.rounds}
