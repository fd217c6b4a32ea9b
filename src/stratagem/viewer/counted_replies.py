"""Replies in a record, counted by the information sets of a game tree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stratagem.games.tree import GameTree
from stratagem.play.store import read_columns
from stratagem.viewer.listing import rows_of

_NO_ACTION = ""
_SHARDS = 4096


class CountedReplies:
    """Number of replies by slot of a tree."""

    def __init__(self, tree: GameTree, *, one_round: bool) -> None:
        """`one_round`: situations are told by their state, since the record has more rounds than the tree."""
        self.counts = np.zeros(int(tree.slots[-1]))
        self._one_round = one_round
        self._slots: dict[tuple[int, str, str], int] = {}
        for number, known in enumerate(tree.information_sets):
            key = known.view.state_key if one_round else known.view.info_key
            first = int(tree.slots[number])
            for place, action in enumerate(known.actions):
                self._slots[known.seat if not one_round else -1, key, action] = first + place
            if known.view.game.spec.on_illegal == "default":
                default = known.view.game.default_action(known.view.facts)
                self._slots[known.seat if not one_round else -1, key, _NO_ACTION] = first + known.actions.index(default)

    def add(self, replies: Mapping[tuple[int, str, str, str], int]) -> None:
        """Add numbers of replies by seat, information key, state key and action."""
        for (seat, info, state, action), count in replies.items():
            key = (-1, state, action) if self._one_round else (seat, info, action)
            if key in self._slots:
                self.counts[self._slots[key]] += count


@lru_cache(maxsize=_SHARDS)
def replies_of(
    folder: Path, number: int, game: str, player: str, modified: int, size: int
) -> dict[tuple[int, str, str, str], int]:
    """Count the replies of a player in a shard by seat, information key, state key and action."""
    own = [(row.id, row.players) for row in rows_of(folder) if row.shard == number and row.game == game]
    seats = pa.table(
        {
            "episode": pa.array([name for name, players in own for held in players if held == player], pa.string()),
            "seat": pa.array([s for _, players in own for s, held in enumerate(players) if held == player], pa.int32()),
        }
    )
    columns = ("episode", "seat", "info_key", "state_key", "action")
    rows = read_columns(folder, "decisions", number, columns).join(seats, ["episode", "seat"], join_type="inner")
    rows = rows.set_column(rows.column_names.index("action"), "action", pc.fill_null(rows["action"], _NO_ACTION))
    keys = ["seat", "info_key", "state_key", "action"]
    counted = rows.group_by(keys).aggregate([([], "count_all")])
    values = zip(*(counted[name].to_pylist() for name in (*keys, "count_all")), strict=True)
    return {(seat, info, state, action): count for seat, info, state, action, count in values}
