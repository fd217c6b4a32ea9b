"""Search for decisions of a record by player, outcome, illegal replies, signal, surprise, regret and step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.base import Json
from stratagem.playing.store import read_columns
from stratagem.show.viewer.decision_index import ShardIndex, index_of
from stratagem.show.viewer.decision_regrets import regrets_of
from stratagem.show.viewer.episode_index import OUTCOMES, Array, CodedTexts
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.listing import LONGEST_PAGE
from stratagem.show.viewer.parameters import number, require_parameter, share


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


ORDERS = ("record", "surprise", "regret", "newest")
"""Orders of the list: that of play, the least probable first, the largest regret first, the last first."""


_OUTCOMES: Sequence[str] = OUTCOMES
_PAGE = 50
"""Decisions of a page where a request does not say."""


def search_decisions(library: Library, asked: Mapping[str, str]) -> Json:
    """Return a page of the decisions of a record."""
    limit = max(1, min(number(asked, "limit", _PAGE), LONGEST_PAGE))
    wanted = ReplaySearch(
        illegal=asked.get("illegal", "") == "1",
        surprise=share(asked, "surprise"),
        regret=share(asked, "regret"),
        step=number(asked, "step", 0) if asked.get("step") else None,
        order=asked.get("order") or "record",
        **{name: asked.get(name, "") for name in ("player", "game", "purpose", "outcome", "how", "episode", "signal")},
    )
    return search_record(
        library.record(require_parameter(asked, "record")), wanted, offset=number(asked, "offset", 0), limit=limit
    )


@dataclass(frozen=True, kw_only=True)
class ReplaySearch:
    """Search for decisions; empty fields let everything through."""

    player: str = ""
    game: str = ""
    purpose: str = ""
    outcome: str = ""
    how: str = ""
    episode: str = ""
    """Id of the only episode."""
    signal: str = ""
    """Name of a safety signal that is not 0 in the round, for the seat."""
    illegal: bool = False
    surprise: float | None = None
    """Largest probability of the reply."""
    regret: float | None = None
    """Least regret of the action."""
    step: int | None = None
    """Number of the shard, which in a run is the step."""
    order: str = "record"

    def __post_init__(self) -> None:
        if self.outcome and self.outcome not in OUTCOMES:
            raise UnknownName("outcome", self.outcome, OUTCOMES)
        if self.order not in ORDERS:
            raise BadParameter(f"`order` is one of {', '.join(ORDERS)}, not {self.order[:20]!r}.")

    @property
    def needs_regret(self) -> bool:
        """True where regrets must be known."""
        return self.regret is not None or self.order == "regret"

    def may_be_in(self, shard: ShardIndex) -> bool:
        """Return whether a shard can have what is looked for, as its number and its episodes say."""
        here = not self.episode or pc.index(shard.ids, self.episode).as_py() >= 0
        return here and self.step in (None, shard.number)

    def rows(self, shard: ShardIndex) -> Array:
        """Return the numbers of the decisions of a shard that pass."""
        if not self.may_be_in(shard):
            return np.zeros(0, dtype=np.int64)
        kept = np.ones(len(shard), dtype=bool)
        for test in self._tests(shard):
            kept &= test()
        return np.flatnonzero(kept)

    def _tests(self, shard: ShardIndex) -> list[Callable[[], Array]]:
        """Return the tests that are asked for."""
        tests: list[Callable[[], Array]] = [
            partial(known.equal, name) for known, name in self._encode_shard(shard) if name
        ]
        if self.outcome:
            code = _OUTCOMES.index(self.outcome)
            tests.append(lambda: shard.outcome == code)
        if self.episode:
            tests.append(lambda: pc.equal(shard.ids, self.episode).to_numpy(zero_copy_only=False)[shard.episode])
        if self.illegal:
            tests.append(lambda: shard.illegal)
        if self.surprise is not None:
            most = self.surprise
            tests.append(lambda: shard.probability <= most)
        if self.order == "surprise":
            tests.append(lambda: np.isfinite(shard.probability))
        if self.regret is not None:
            least = self.regret
            tests.append(lambda: regrets_of(shard).regrets >= least)
        if self.order == "regret":
            tests.append(lambda: np.isfinite(regrets_of(shard).regrets))
        if self.signal:
            tests.append(lambda: signal_of(shard, self.signal) != 0.0)
        return tests

    def _encode_shard(self, shard: ShardIndex) -> Sequence[tuple[CodedTexts, str]]:
        return (
            (shard.player, self.player),
            (shard.game, self.game),
            (shard.purpose, self.purpose),
            (shard.how, self.how),
        )


def search_record(folder: Path, wanted: ReplaySearch, *, offset: int, limit: int) -> Json:
    """Return a page of the decisions that pass, and what can be searched by."""
    indices = tuple(index_of(folder))
    found, order = _find_decisions(indices, wanted)
    shown = order[offset : offset + limit]
    return {
        "found": len(order),
        "offset": offset,
        "decisions": _rows(found, shown, wanted),
        "why_no_regret": _reasons([one for one in indices if wanted.may_be_in(one)]) if wanted.needs_regret else "",
        **_count_searchable(indices),
    }


@lru_cache(maxsize=8)
def _find_decisions(
    indices: tuple[ShardIndex, ...], wanted: ReplaySearch
) -> tuple[Sequence[tuple[ShardIndex, Array]], Array]:
    """Return the decisions that pass by shard, and shard and row of all of them in order; kept for the next page."""
    found = [(shard, wanted.rows(shard)) for shard in indices]
    return found, _order(found, wanted)


@lru_cache(maxsize=8)
def _count_searchable(indices: tuple[ShardIndex, ...]) -> Json:
    """Return what can be searched by."""
    return {
        "total": sum(map(len, indices)),
        "players": _counts(shard.player.counts() for shard in indices),
        "games": _counts(shard.game.counts() for shard in indices),
        "purposes": _counts(shard.purpose.counts() for shard in indices),
        "hows": _counts(shard.how.counts() for shard in indices),
        "outcomes": _outcome_counts(indices),
        "signals": list(dict.fromkeys(name for shard in indices for name in names_of(shard))),
        "illegal": int(sum(shard.illegal.sum() for shard in indices)),
        "with_calls": int(sum(np.isfinite(shard.probability).sum() for shard in indices)),
    }


def _order(found: Sequence[tuple[ShardIndex, Array]], wanted: ReplaySearch) -> Array:
    """Return shard and row of all that pass, in the order that is asked for."""
    places = [np.stack([np.full(len(rows), number), rows], axis=1) for number, (_, rows) in enumerate(found)]
    every = np.concatenate(places) if places else np.zeros((0, 2), dtype=np.int64)
    if wanted.order == "newest":
        return every[::-1]
    if wanted.order == "record":
        return every
    keys = [
        shard.probability[rows] if wanted.order == "surprise" else -regrets_of(shard).regrets[rows]
        for shard, rows in found
        if len(rows)
    ]
    return every[np.argsort(np.concatenate(keys), kind="stable")] if keys else every


def _counts(counts: Any) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return dict(sorted(total.items()))


def _outcome_counts(indices: Sequence[ShardIndex]) -> Mapping[str, int]:
    numbers = sum(
        (np.bincount(shard.outcome, minlength=len(OUTCOMES)) for shard in indices), np.zeros(len(OUTCOMES), int)
    )
    return {name: int(number) for name, number in zip(OUTCOMES, numbers, strict=True) if number}


def _reasons(indices: Sequence[ShardIndex]) -> str:
    return " ".join(dict.fromkeys(reason for shard in indices for reason in regrets_of(shard).why_not))


def _rows(found: Sequence[tuple[ShardIndex, Array]], shown: Array, wanted: ReplaySearch) -> list[Json]:
    """Return the decisions of a page. Only their texts are read, not those of other pages."""
    rows: list[Json] = [{} for _ in shown]
    for at in dict.fromkeys(shown[:, 0].tolist()):
        shard = found[at][0]
        own = np.flatnonzero(shown[:, 0] == at)
        places = shown[own, 1]
        texts = read_columns(shard.folder, "decisions", shard.number, ("action", "said")).take(places)
        for row, place, action, said in zip(
            own, places, texts["action"].to_pylist(), texts["said"].to_pylist(), strict=True
        ):
            rows[row] = _row(shard, int(place), wanted) | {"action": action, "said": said}
    return rows


def _row(shard: ShardIndex, row: int, wanted: ReplaySearch) -> Json:
    return {
        **shard.where(row),
        "round": int(shard.round[row]),
        "player": shard.player.names[shard.player.codes[row]],
        "game": shard.game.names[shard.game.codes[row]],
        "how": shard.how.names[shard.how.codes[row]],
        "outcome": OUTCOMES[shard.outcome[row]],
        "payoff": float(shard.payoff[row]),
        "probability": float(shard.probability[row]),
        "advantage": float(shard.advantage[row]),
        "regret": float(regrets_of(shard).regrets[row]) if wanted.needs_regret else None,
    }
