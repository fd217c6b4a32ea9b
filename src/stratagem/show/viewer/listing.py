"""Episodes of a record as a list that can be searched: a few columns of each shard, read once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.base import Json
from stratagem.playing.store import read_columns, shards

Outcome = Literal["won", "lost", "drawn", "unfinished"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_NAMED = 200
"""Number of episodes among which one is looked for whose id is like an unknown one."""
LONGEST_PAGE = 500
_COLUMNS = (
    "id", "game", "players", "slots", "purpose", "parent", "finished", "payoffs", "num_decisions", "num_illegal",
)  # fmt: skip
_SHARDS = 4096
"""Number of shards whose lists are kept."""


class UnknownEpisode(UnknownName):
    """Id that no episode of a record has; the message names the nearest ids or one, and not all of them."""

    def __init__(self, name: str, ids: list[str]) -> None:
        near = get_close_matches(name, ids[:_NAMED], n=4, cutoff=0.5)
        super().__init__("recorded episode", name, near)
        if not near:
            self.args = (
                f"There is no recorded episode called {name[:200]!r}: name one by its id, such as {ids[0]!r}.",
            )


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

    def outcome(self, player: str = "") -> Outcome:
        """Return the outcome for a player, by default for the first player of the match."""
        if not self.finished:
            return "unfinished"
        own = [pay for seat, pay in enumerate(self.payoffs) if self._is(seat, player)]
        others = [pay for seat, pay in enumerate(self.payoffs) if not self._is(seat, player)]
        if not own or not others or max(own) == max(others):
            return "drawn"
        return "won" if max(own) > max(others) else "lost"

    def _is(self, seat: int, player: str) -> bool:
        return self.players[seat] == player if player else self.slots[seat] == 0


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Search for episodes; empty fields let everything through."""

    player: str = ""
    game: str = ""
    purpose: str = ""
    outcome: str = ""
    illegal: bool = False
    opponent: str = ""
    """Another player of the same episode, or the same in another seat."""
    text: str = ""
    """Part of the id or of a player's name."""

    def __post_init__(self) -> None:
        if self.outcome and self.outcome not in OUTCOMES:
            raise UnknownName("outcome", self.outcome, OUTCOMES)

    def takes(self, row: EpisodeRow) -> bool:
        """Return whether an episode passes."""
        return (
            (not self.game or row.game == self.game)
            and (not self.purpose or row.purpose == self.purpose)
            and (not self.player or self.player in row.players)
            and (not self.opponent or self._meets(row))
            and (not self.illegal or any(row.num_illegal))
            and (not self.outcome or row.outcome(self.player) == self.outcome)
            and (not self.text or any(self.text.casefold() in name.casefold() for name in (row.id, *row.players)))
        )

    def _meets(self, row: EpisodeRow) -> bool:
        least = 2 if self.opponent == self.player else 1
        return row.players.count(self.opponent) >= least


def rows_of(folder: Path) -> list[EpisodeRow]:
    """Return all episodes of a record in the order of play."""
    return [row for number in shards(folder) for row in _shard(folder, number, *stamp(folder, number))]


def find_row(folder: Path, name: str) -> EpisodeRow:
    """Return the episode of this id."""
    for row in rows_of(folder):
        if row.id == name:
            return row
    raise UnknownEpisode(name, [row.id for row in rows_of(folder)])


def id_of(folder: Path, name: str) -> str:
    """Return the id of an episode that is named by it, or by its number in the order of play, from 1."""
    ids = [row.id for row in rows_of(folder)]
    if not name.isdecimal() or name in ids:
        return name
    if not 1 <= int(name) <= len(ids):
        numbers = f"its number, 1 to {len(ids)}"
        raise BadParameter(f"There is no episode called {name!r}: name one by its id, or by {numbers}.")
    return ids[int(name) - 1]


def list_episodes(folder: Path, wanted: Filter, *, offset: int, limit: int, newest: bool) -> Json:
    """Return a page of the list of a record, and what it can be searched by."""
    if offset < 0 or not 1 <= limit <= LONGEST_PAGE:
        raise BadParameter(
            f"A page begins at an `offset` of at least 0 and has a `limit` of 1 to {LONGEST_PAGE} episodes."
        )
    rows = rows_of(folder)
    folded = frozenset[str]() if wanted.purpose or wanted.text else _beginnings(rows)
    found = [row for row in rows if row.id not in folded and wanted.takes(row)]
    shown = (found[::-1] if newest else found)[offset : offset + limit]
    return {
        "total": len(rows) - len(folded),
        "folded": len(folded),
        "found": len(found),
        "offset": offset,
        "episodes": [_json(row, wanted.player) for row in shown],
        "games": _count_names(row.game for row in rows),
        "players": _count_names(name for row in rows for name in row.players),
        "purposes": _count_names(row.purpose for row in rows),
        "outcomes": _count_names(row.outcome(wanted.player) for row in rows if wanted.player in ("", *row.players)),
        "illegal": sum(any(row.num_illegal) for row in rows),
        "first": _first(rows),
    }  # fmt: skip


def neighbours(folder: Path, row: EpisodeRow) -> tuple[str | None, str | None]:
    """Return the ids of the episodes before and after one."""
    names = [one.id for one in rows_of(folder)]
    place = names.index(row.id)
    return (names[place - 1] if place else None), (names[place + 1] if place + 1 < len(names) else None)


def _beginnings(rows: list[EpisodeRow]) -> frozenset[str]:
    """Return the ids of shared beginnings, which were played for their branches: the list names them above these."""
    parents = {row.parent for row in rows}
    return frozenset(row.id for row in rows if row.purpose == "warm_up" and row.id in parents)


def _first(rows: list[EpisodeRow]) -> str:
    """Return the player that is the first of every match and sits nowhere else; empty if there is none."""
    seated = {(name, slot == 0) for row in rows for name, slot in zip(row.players, row.slots, strict=True)}
    firsts = [name for name, is_first in seated if is_first]
    return firsts[0] if len(firsts) == 1 and (firsts[0], False) not in seated else ""


def _json(row: EpisodeRow, player: str) -> Json:
    return {**row._asdict(), "outcome": row.outcome(player)}


def _count_names(names: Iterable[str]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def stamp(folder: Path, number: int) -> tuple[int, int]:
    """Return what changes when a shard is replaced."""
    status = (folder / "episodes" / f"{number:06d}.parquet").stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=_SHARDS)
def _shard(folder: Path, number: int, modified: int, size: int) -> tuple[EpisodeRow, ...]:
    table = read_columns(folder, "episodes", number, _COLUMNS)
    columns: list[list[Any]] = [[_plain(value) for value in table[name].to_pylist()] for name in _COLUMNS]
    return tuple(EpisodeRow._make((*values, number)) for values in zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    """Make lists tuples."""
    return tuple(map(_plain, value)) if isinstance(value, list) else value
