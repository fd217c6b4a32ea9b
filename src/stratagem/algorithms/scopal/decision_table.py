"""The decisions of recorded games as columns of numbers: what stage II reads, a million rows in a few seconds.

Only the columns that are needed are read, texts become codes, and nothing is looped over in Python but shards and
games. A record is any folder that `stratagem play --record`, a run or another program wrote: the decision table on disk
is the interface, so steps may be estimated from anyone's games.
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

from stratagem.errors import BadRecord
from stratagem.games.catalogue import make_game
from stratagem.learning.advantages.base import Floats, Ints
from stratagem.play.store import read_columns, shards

SAID = ("free", "constrained", "scripted")
"""How an action comes about that the player itself said; any other action was chosen for it."""
_NOT_SAID = ("error", "absent")
"""What is nobody's reply."""
_TEXTS = ("game", "state_key", "action", "reply", "prompt")
_TIE = 1e-9
"""Payoffs are sums, so equal ones may differ in the last digit."""


@dataclass(frozen=True)
class Coded:
    """A column of texts: a code for each row, and the texts by their code, which stay Arrow's: a million take room."""

    codes: Ints
    texts: pa.Array

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Coded:
        """The texts of a column that was encoded shard by shard; None is a text like any other, the last."""
        chunks = column.unify_dictionaries().chunks
        texts = chunks[0].dictionary
        codes = np.concatenate([chunk.indices.fill_null(len(texts)).to_numpy() for chunk in chunks]).astype(np.int64)
        return cls(codes, pa.concat_arrays([texts, pa.nulls(1, texts.type)]) if column.null_count else texts)

    def at(self, rows: Ints) -> pa.Array:
        """The texts of some rows."""
        return self.texts.take(pa.array(self.codes[rows]))


@dataclass(frozen=True, kw_only=True)
class DecisionTable:
    """N decisions of the players who are learnt from, those of an episode in the order of play."""

    rows: pa.Table
    """What they were and where they stand: folder, shard, episode, turn, seat, attempt, legal."""
    way: Ints
    """One seat's way through one episode."""
    game: Coded
    role: Ints
    """The first seat that is told the same rules: situations of such seats are one."""
    state: Coded
    """The game's own name of the state."""
    action: Coded
    """None where nothing legal was said."""
    reply: Coded
    """What was said: a model's text, or the action of a player that does not talk."""
    prompt: Coded
    """What a model was asked, by its id; None of other players."""
    outcome: Floats
    """How the episode ended for the seat: 1 won, a share for those who tie, 0 lost."""

    def __len__(self) -> int:
        return len(self.way)

    @property
    def legal(self) -> Any:
        """Whether the action is what the player itself said, as truth values."""
        return self.rows["legal"].to_numpy()


def read_decisions(folders: Sequence[Path], players: Sequence[str] = (), prefix: str = "") -> DecisionTable:
    """The decisions of these players, by their names in the record; by default of whoever holds slot 0.

    In self-play all seats are held by that player, so all decisions count. With a `prefix` only episodes whose names
    begin so are read.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise BadRecord("One record is named twice, so its games would count twice: name each once.")
    rows = _rows(folders, players, prefix)
    if not len(rows):
        whom = f" of {', '.join(players)}" if players else ""
        raise BadRecord(f"There are no decisions{whom} in {', '.join(map(str, folders)) or 'no folder'}.")
    coded = {}
    for name in _TEXTS:
        coded[name] = Coded.of(rows[name])
        rows = rows.drop_columns([name])  # what is read in shards is let go of before the next is put together
    return DecisionTable(
        rows=rows.select(["folder", "shard", "episode", "turn", "seat", "attempt", "legal"]),
        way=np.unique(rows["way"].to_numpy(), return_inverse=True)[1].astype(np.int64),
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


def check_record(folder: Path) -> list[int]:
    """The numbers of a record's shards; who names the folder of a run is told where its games are."""
    if found := shards(folder):
        return found
    inside = f": those of the run are in {folder / 'record'}" if shards(folder / "record") else ""
    raise BadRecord(f"There are no recorded episodes in {folder}{inside}.")


def _shards(folder: Path, place: int, players: Sequence[str], prefix: str) -> Iterator[pa.Table]:
    for number in check_record(folder):
        part = _shard(folder, place, number, players)
        yield part.filter(pc.starts_with(part["episode"], prefix)) if prefix else part


def _shard(folder: Path, place: int, number: int, players: Sequence[str]) -> pa.Table:
    """The decisions of one shard with what their episodes and calls say of them."""
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
    rows = rows.append_column("way", pa.array((place << 56) + (number << 32) + cell))
    rows = rows.append_column("folder", pa.array(np.full(len(rows), place, dtype=np.int32)))
    rows = rows.append_column("shard", pa.array(np.full(len(rows), number, dtype=np.int32)))
    rows = rows.append_column("legal", pc.is_in(rows["how"], value_set=pa.array(SAID)))
    rows = _with_replies(rows, read_columns(folder, "calls", number, [*names[:4], "index", "prompt", "text"]))
    kept = seats.wanted[cell] & pc.invert(pc.is_in(rows["how"], value_set=pa.array(_NOT_SAID))).to_numpy()
    return _encoded(rows.filter(pa.array(kept)).drop_columns(["how", "said"]))


def _encoded(rows: pa.Table) -> pa.Table:
    """With each text once, before the next shard is read."""
    for name in _TEXTS:
        rows = rows.set_column(rows.schema.get_field_index(name), name, rows[name].combine_chunks().dictionary_encode())
    return rows


class _Seats:
    """Every seat of every episode of a shard, one after the other."""

    def __init__(self, episodes: pa.Table, players: Sequence[str], folder: Path) -> None:
        slots, payoffs = (episodes[name].combine_chunks() for name in ("slots", "payoffs"))
        self.starts = np.concatenate([[0], np.cumsum(pc.list_value_length(slots).to_numpy(zero_copy_only=False))])
        self.pay = pc.list_flatten(payoffs).to_numpy(zero_copy_only=False)
        if not np.isfinite(self.pay).all():
            raise BadRecord(f"{folder} has payoffs that are no finite numbers: who won there cannot be said.")
        owner = pc.list_parent_indices(slots).to_numpy()
        best = np.maximum.reduceat(self.pay, self.starts[:-1]) if len(self.pay) else self.pay
        ahead = self.pay >= best[owner] - _TIE
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
        """The place of a seat of an episode."""
        cells: Ints = self.starts[episode] + seat
        return cells


def _with_replies(rows: pa.Table, calls: pa.Table) -> pa.Table:
    """What each decision said, and what it was asked, by the first of its calls."""
    calls = calls.filter(pc.equal(calls["index"], 0))
    found = _lookup(_keys(calls, rows), _keys(rows, rows))
    asked = calls["prompt"].take(found)
    silent = pc.coalesce(rows["said"], rows["action"])
    return rows.append_column("reply", pc.coalesce(calls["text"].take(found), silent)).append_column("prompt", asked)


def _keys(table: pa.Table, among: pa.Table) -> Ints:
    """A number for each (episode, turn, seat, attempt)."""
    ids = pc.unique(among["episode"])
    keys: Ints = pc.index_in(table["episode"], value_set=ids).to_numpy().astype(np.int64)
    for name in ("turn", "seat", "attempt"):
        size = int(pc.max(among[name]).as_py() or 0) + 1
        keys = keys * size + table[name].to_numpy()
    return keys


def _lookup(known: Ints, asked: Ints) -> pa.Array:
    """Where each number that is asked for stands among the known ones; null where it does not."""
    if not len(known):
        return pa.nulls(len(asked), pa.int64())
    order = np.argsort(known, kind="stable")
    places = np.minimum(np.searchsorted(known[order], asked), len(known) - 1)
    return pa.array(order[places], mask=known[order][places] != asked)


def _roles(game: Coded, seat: Ints) -> Ints:
    """Seats that are told the same rules are one role."""
    pairs, places = np.unique(np.stack([game.codes, seat]), axis=1, return_inverse=True)
    roles = np.array([_role(game.texts[code].as_py(), int(where)) for code, where in pairs.T], dtype=np.int64)
    return roles[places.reshape(-1)]


@lru_cache(maxsize=4096)
def _role(text: str, seat: int) -> int:
    game = make_game(text)
    return next(other for other in range(seat + 1) if game.rules(other) == game.rules(seat))
