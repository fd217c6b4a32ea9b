"""Decisions of recorded games as columns of numbers, the input of stage II; it reads a million rows in a few seconds.

Only the needed columns are read, texts become codes, and Python loops only over shards and games. A record is any
folder that `stratagem play --record`, a run or another program wrote: the decision table on disk is the interface, so
steps may be estimated from anyone's games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stratagem.base.errors import BadRecord
from stratagem.games.bounded import make_bounded_game
from stratagem.learn.advantages.base import Floats, Ints
from stratagem.playing.store import no_episodes, read_columns, shards

OWN_ACTIONS = ("free", "constrained", "scripted")
"""Origins of a player's own actions; any other action was chosen for it."""
_NO_REPLY = ("error", "absent")
"""Origins of decisions without a reply."""
_TEXTS = ("game", "state_key", "action", "reply", "prompt")
_TIE = 1e-9
"""Payoffs are sums, so equal ones may differ in the last digit."""


@dataclass(frozen=True)
class TextColumn:
    """Column of texts: a code for each row, and the texts by code as an Arrow array, which saves memory."""

    codes: Ints
    texts: pa.Array

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> TextColumn:
        """Encode a column that was encoded shard by shard; None is the last code."""
        chunks = column.unify_dictionaries().chunks
        texts = chunks[0].dictionary
        codes = np.concatenate([chunk.indices.fill_null(len(texts)).to_numpy() for chunk in chunks]).astype(np.int64)
        return cls(codes, pa.concat_arrays([texts, pa.nulls(1, texts.type)]) if column.null_count else texts)

    def at(self, rows: Ints) -> pa.Array:
        """Return the texts of some rows."""
        return self.texts.take(pa.array(self.codes[rows]))


@dataclass(frozen=True, kw_only=True)
class DecisionTable:
    """N decisions of the selected players, in the order of play within an episode."""

    rows: pa.Table
    """Position of each decision: folder, shard, episode, turn, seat, attempt; and `legal`."""
    trajectory: Ints
    """Number of the trajectory: one seat in one episode."""
    game: TextColumn
    role: Ints
    """First seat with the same rules; states of such seats are the same."""
    state: TextColumn
    """Information state, by the game's own key."""
    action: TextColumn
    """Action; None for an illegal reply."""
    reply: TextColumn
    """Reply: a model's text, or the action of a player without a model."""
    prompt: TextColumn
    """Id of the model's prompt; None for other players."""
    outcome: Floats
    """Outcome of the episode for the seat: 1 for a win, a share for a tie, 0 for a loss."""

    def __len__(self) -> int:
        return len(self.trajectory)

    @property
    def legal(self) -> Any:
        """Truth values; true where the action is the player's own legal reply."""
        return self.rows["legal"].to_numpy()


def read_decisions(folders: Sequence[Path], players: Sequence[str] = (), prefix: str = "") -> DecisionTable:
    """Read the decisions of some players, by their names in the record; by default of the player of slot 0.

    In self-play all seats are held by that player, so all decisions count. With a `prefix` only episodes whose names
    begin so are read.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise BadRecord("One record is named twice, so its games would count twice: name each once.")
    rows = _rows(folders, players, prefix)
    if not len(rows):
        whom = f" of {', '.join(players)}" if players else ""
        there = f": its players are {', '.join(_players(folders))}" if players else ""
        raise BadRecord(f"There are no decisions{whom} in {', '.join(map(str, folders)) or 'no folder'}{there}.")
    coded = {}
    for name in _TEXTS:
        coded[name] = TextColumn.of(rows[name])
        rows = rows.drop_columns([name])  # frees the shards of a column before the next is encoded
    return DecisionTable(
        rows=rows.select(["folder", "shard", "episode", "turn", "seat", "attempt", "legal"]),
        trajectory=np.unique(rows["trajectory"].to_numpy(), return_inverse=True)[1].astype(np.int64),
        game=coded["game"],
        role=_roles(coded["game"], rows["seat"].to_numpy()),
        state=coded["state_key"],
        action=coded["action"],
        reply=coded["reply"],
        prompt=coded["prompt"],
        outcome=rows["outcome"].to_numpy(),
    )


def _rows(folders: Sequence[Path], players: Sequence[str], prefix: str) -> pa.Table:
    parts = [part for number, folder in enumerate(folders) for part in _shards(folder, number, players, prefix)]
    return pa.concat_tables(parts) if parts else pa.table({})


def _players(folders: Sequence[Path]) -> list[str]:
    """Return the names of the players in some records."""
    columns = (
        read_columns(folder, "episodes", number, ["players"]) for folder in folders for number in check_record(folder)
    )
    return sorted({name for column in columns for names in column["players"].to_pylist() for name in names})


def check_record(folder: Path) -> list[int]:
    """Return the numbers of a record's shards; a run's folder is refused with the path of its record."""
    if found := shards(folder):
        return found
    raise no_episodes(folder)


def _shards(folder: Path, index: int, players: Sequence[str], prefix: str) -> Iterator[pa.Table]:
    for number in check_record(folder):
        part = _shard(folder, index, number, players)
        yield part.filter(pc.starts_with(part["episode"], prefix)) if prefix else part


def _shard(folder: Path, index: int, number: int, players: Sequence[str]) -> pa.Table:
    """Return the decisions of one shard with columns of their episodes and calls."""
    episodes = read_columns(folder, "episodes", number, ["id", "game", "players", "slots", "payoffs", "finished"])
    names = ["episode", "turn", "seat", "attempt", "state_key", "action", "how", "said"]
    rows = read_columns(folder, "decisions", number, names)
    at = pc.index_in(rows["episode"], value_set=episodes["id"])
    if at.null_count:
        raise BadRecord(f"{folder / 'decisions' / f'{number:06d}.parquet'} has decisions of episodes that it lacks.")
    seats = _Seats(episodes, players, folder)
    cell = seats.cell(at.to_numpy(), rows["seat"].to_numpy())
    rows = rows.append_column("outcome", pa.array(seats.outcome[cell]))
    rows = rows.append_column("game", episodes["game"].take(at))
    rows = rows.append_column("trajectory", pa.array((index << 56) + (number << 32) + cell))
    rows = rows.append_column("folder", pa.array(np.full(len(rows), index, dtype=np.int32)))
    rows = rows.append_column("shard", pa.array(np.full(len(rows), number, dtype=np.int32)))
    rows = rows.append_column("legal", pc.is_in(rows["how"], value_set=pa.array(OWN_ACTIONS)))
    rows = _with_replies(rows, read_columns(folder, "calls", number, [*names[:4], "index", "prompt", "text"]))
    kept = seats.wanted[cell] & pc.invert(pc.is_in(rows["how"], value_set=pa.array(_NO_REPLY))).to_numpy()
    return _encode_texts(rows.filter(pa.array(kept)).drop_columns(["how", "said"]))


def _encode_texts(rows: pa.Table) -> pa.Table:
    """Encode the text columns as dictionaries, before the next shard is read."""
    for name in _TEXTS:
        rows = rows.set_column(rows.schema.get_field_index(name), name, rows[name].combine_chunks().dictionary_encode())
    return rows


class _Seats:
    """All seats of all episodes of a shard, in one flat order."""

    def __init__(self, episodes: pa.Table, players: Sequence[str], folder: Path) -> None:
        slots, payoffs = (episodes[name].combine_chunks() for name in ("slots", "payoffs"))
        self.starts = np.concatenate([[0], np.cumsum(pc.list_value_length(slots).to_numpy(zero_copy_only=False))])
        self.payoffs = pc.list_flatten(payoffs).to_numpy(zero_copy_only=False)
        if not np.isfinite(self.payoffs).all():
            raise BadRecord(f"{folder} has payoffs that are no finite numbers: who won there cannot be said.")
        owner = pc.list_parent_indices(slots).to_numpy()
        best = np.maximum.reduceat(self.payoffs, self.starts[:-1]) if len(self.payoffs) else self.payoffs
        ahead = self.payoffs >= best[owner] - _TIE
        self.outcome: Floats = ahead / np.bincount(owner, weights=ahead)[owner]
        names = pc.list_flatten(episodes["players"].combine_chunks())
        if players:
            wanted = pc.is_in(names, value_set=pa.array(list(players))).to_numpy(zero_copy_only=False)
        else:
            codes = names.dictionary_encode().indices.to_numpy()
            first = codes[pc.list_flatten(slots).to_numpy() == 0]
            wanted = codes == first[owner]
        self.wanted = wanted & episodes["finished"].to_numpy()[owner]

    def cell(self, episode: Ints, seat: Ints) -> Ints:
        """Return the index of a seat of an episode."""
        cells: Ints = self.starts[episode] + seat
        return cells


def _with_replies(rows: pa.Table, calls: pa.Table) -> pa.Table:
    """Append reply and prompt of each decision, from the first of its calls."""
    calls = calls.filter(pc.equal(calls["index"], 0))
    index = _lookup(_keys(calls, rows), _keys(rows, rows))
    prompt = calls["prompt"].take(index)
    silent = pc.coalesce(rows["said"], rows["action"])
    return rows.append_column("reply", pc.coalesce(calls["text"].take(index), silent)).append_column("prompt", prompt)


def _keys(table: pa.Table, among: pa.Table) -> Ints:
    """Return a number for each (episode, turn, seat, attempt)."""
    ids = pc.unique(among["episode"])
    keys: Ints = pc.index_in(table["episode"], value_set=ids).to_numpy().astype(np.int64)
    for name in ("turn", "seat", "attempt"):
        size = int(pc.max(among[name]).as_py() or 0) + 1
        keys = keys * size + table[name].to_numpy()
    return keys


def _lookup(known: Ints, asked: Ints) -> pa.Array:
    """Return the index of each asked number among the known ones; null where it is not known."""
    if not len(known):
        return pa.nulls(len(asked), pa.int64())
    order = np.argsort(known, kind="stable")
    indices = np.minimum(np.searchsorted(known[order], asked), len(known) - 1)
    return pa.array(order[indices], mask=known[order][indices] != asked)


def _roles(game: TextColumn, seat: Ints) -> Ints:
    """Return the role of each seat: seats with the same rules have one role."""
    pairs, indices = np.unique(np.stack([game.codes, seat]), axis=1, return_inverse=True)
    roles = np.array([_role(game.texts[code].as_py(), int(where)) for code, where in pairs.T], dtype=np.int64)
    return roles[indices.reshape(-1)]


@lru_cache(maxsize=4096)
def _role(text: str, seat: int) -> int:
    game = make_bounded_game(text)
    return next(other for other in range(seat + 1) if game.rules(other) == game.rules(seat))
