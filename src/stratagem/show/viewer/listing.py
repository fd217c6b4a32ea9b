"""Episodes of a record as a list that can be searched, by their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.base import Json
from stratagem.show.viewer.episode_index import (
    OUTCOMES,
    Array,
    CodedTexts,
    EpisodeIndex,
    EpisodeRow,
    episodes_of,
)

_NAMED = 200
"""Number of episodes among which one is looked for whose id is like an unknown one."""
LONGEST_PAGE = 500


class UnknownEpisode(UnknownName):
    """Id that no episode of a record has; the message names the nearest ids or one, and not all of them."""

    def __init__(self, name: str, ids: list[str]) -> None:
        near = get_close_matches(name, ids[:_NAMED], n=4, cutoff=0.5)
        super().__init__("recorded episode", name, near)
        if not near:
            self.args = (
                f"There is no recorded episode called {name[:200]!r}: name one by its id, such as {ids[0]!r}.",
            )


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

    def select(self, index: EpisodeIndex) -> Array:
        """Return True for each episode that passes."""
        chosen = np.ones(len(index), dtype=bool)
        if self.game:
            chosen &= index.games.equal(self.game)
        if self.purpose:
            chosen &= index.purposes.equal(self.purpose)
        if self.player:
            chosen &= index.count_seats(index.players.equal(self.player)) > 0
        if self.opponent:
            least = 2 if self.opponent == self.player else 1
            chosen &= index.count_seats(index.players.equal(self.opponent)) >= least
        if self.illegal:
            chosen &= index.illegal
        if self.outcome:
            chosen &= index.outcomes(self.player) == OUTCOMES.index(self.outcome)
        if self.text:
            chosen &= _contain(index, self.text.casefold())
        return chosen


def _contain(index: EpisodeIndex, text: str) -> Array:
    """Return True for each episode whose id or one of whose players has a text in it, whatever its case."""
    ids = index.ids
    # Arrow has no `casefold`, which is more than small letters in other alphabets
    plain = pc.all(pc.string_is_ascii(ids)).as_py() is not False
    folded = pc.ascii_lower(ids) if plain else pa.array([name.casefold() for name in ids.to_pylist()], pa.string())
    found: Array = pc.match_substring(folded, text).to_numpy(zero_copy_only=False)
    known = np.array([text in name.casefold() for name in index.players.names], dtype=bool)
    return found | (index.count_seats(known[index.players.codes]) > 0)


def rows_of(folder: Path) -> list[EpisodeRow]:
    """Return all episodes of a record in the order of play."""
    return episodes_of(folder).rows()


def find_episode(index: EpisodeIndex, name: str) -> int:
    """Return the place of the episode of this id."""
    if (place := index.place_of(name)) < 0:
        raise UnknownEpisode(name, index.ids[:_NAMED].to_pylist())
    return place


def find_row(folder: Path, name: str) -> EpisodeRow:
    """Return the episode of this id."""
    index = episodes_of(folder)
    return index.rows([find_episode(index, name)])[0]


def id_of(folder: Path, name: str) -> str:
    """Return the id of an episode that is named by it, or by its number in the order of play, from 1."""
    index = episodes_of(folder)
    if not name.isdecimal() or index.place_of(name) >= 0:
        return name
    if not 1 <= int(name) <= len(index):
        numbers = f"its number, 1 to {len(index)}"
        raise BadParameter(f"There is no episode called {name!r}: name one by its id, or by {numbers}.")
    return str(index.ids[int(name) - 1])


def list_episodes(folder: Path, wanted: Filter, *, offset: int, limit: int, newest: bool) -> Json:
    """Return a page of the list of a record, and what it can be searched by."""
    if offset < 0 or not 1 <= limit <= LONGEST_PAGE:
        raise BadParameter(
            f"A page begins at an `offset` of at least 0 and has a `limit` of 1 to {LONGEST_PAGE} episodes."
        )
    index = episodes_of(folder)
    chosen = wanted.select(index)
    folded = _beginnings(index)
    num_folded = 0 if wanted.purpose or wanted.text else len(folded)
    if num_folded:
        chosen &= ~pc.is_in(index.ids, value_set=folded).to_numpy(zero_copy_only=False)
    found = np.flatnonzero(chosen)
    shown = (found[::-1] if newest else found)[offset : offset + limit]
    outcomes = index.outcomes(wanted.player)
    ends = outcomes[index.count_seats(index.players.equal(wanted.player)) > 0] if wanted.player else outcomes
    return {
        "total": len(index) - num_folded,
        "folded": num_folded,
        "found": len(found),
        "offset": offset,
        "episodes": [
            {**row._asdict(), "outcome": OUTCOMES[outcomes[place]]}
            for place, row in zip(shown, index.rows(shown), strict=True)
        ],
        "outcomes": _count_names(CodedTexts(ends, OUTCOMES)),
        **_count_searchable(index),
    }


@lru_cache(maxsize=8)
def _count_searchable(index: EpisodeIndex) -> Json:
    """Return what all episodes can be searched by."""
    return {
        "games": _count_names(index.games),
        "players": _count_names(index.players),
        "purposes": _count_names(index.purposes),
        "illegal": int(index.illegal.sum()),
        "first": _first(index),
    }


def neighbours(folder: Path, row: EpisodeRow) -> tuple[str | None, str | None]:
    """Return the ids of the episodes before and after one."""
    index = episodes_of(folder)
    place = index.place_of(row.id)
    before, after = (str(index.ids[other]) if 0 <= other < len(index) else None for other in (place - 1, place + 1))
    return before, after


@lru_cache(maxsize=8)
def _beginnings(index: EpisodeIndex) -> pa.Array:
    """Return the ids of shared beginnings, which were played for their branches: the list names them above these."""
    begun = index.ids.filter(pa.array(index.purposes.equal("warm_up")))
    return pc.unique(begun.filter(pc.is_in(begun, value_set=index.column("parent"))))


def _first(index: EpisodeIndex) -> str:
    """Return the player that is the first of every match and sits nowhere else; empty if there is none."""
    players, leads = index.players, index.leads
    firsts = np.unique(players.codes[leads])
    return players.names[firsts[0]] if len(firsts) == 1 and firsts[0] not in players.codes[~leads] else ""


def _count_names(texts: CodedTexts) -> Mapping[str, int]:
    return dict(sorted(texts.counts().items()))
