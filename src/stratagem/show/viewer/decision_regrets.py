"""Regret of recorded actions, in the game's unit, against an equilibrium or against perfect play.

On a game tree the regret of an action is the value of the best action less its own, where the others play an
equilibrium and the seat its best response from there on. In a small game of perfect information the solver's values
take the place of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from stratagem.base.errors import CannotCompute, StratagemError
from stratagem.games.base import Game, Node, State, Twin
from stratagem.games.bounded import make_bounded_game
from stratagem.games.enumeration import starts, successors, walk_positions
from stratagem.games.solver import solve
from stratagem.measure.set_regrets import action_regrets
from stratagem.playing.records import Decision
from stratagem.playing.store import read_columns
from stratagem.show.viewer.decision_index import ShardIndex
from stratagem.show.viewer.episode_index import Array
from stratagem.show.viewer.sentences import sentence_of
from stratagem.show.viewer.trees import equilibrium_of_game, oracle_of_game

_SITUATIONS = 20_000
"""Largest number of situations of a game of perfect information."""
Key = tuple[int, str, str]
"""Seat, information or state key, and action; the seat is -1 where the key names the situation of any seat."""


class Regrets(NamedTuple):
    """Regrets of the decisions of a shard; not a number where none is known."""

    regrets: Array
    why_not: tuple[str, ...]
    """Reasons, game by game."""


class _Table(NamedTuple):
    by_state: bool
    """True if situations are told by their state key, for any seat."""
    regrets: dict[Key, float]


@lru_cache(maxsize=512)
def regrets_of(shard: ShardIndex) -> Regrets:
    """Return the regret of each decision of a shard."""
    result, reasons = np.full(len(shard), np.nan), list[str]()
    for code, game in enumerate(shard.game.names):
        rows = np.flatnonzero(shard.game.codes == code)
        try:
            table = table_of_regrets(game)
        except StratagemError as error:
            reasons.append(sentence_of(error))
            continue
        if len(rows):
            result[rows] = _looked_up(shard, rows, table)
    return Regrets(result, tuple(reasons))


def regret_of(game: str) -> Callable[[Decision], float | None]:
    """Return the regret of decisions of a game; None where none is known."""
    table = table_of_regrets(game)

    def look_up(row: Decision) -> float | None:
        known = (-1, row.state_key) if table.by_state else (row.seat, row.info_key)
        return None if row.action is None else table.regrets.get((*known, row.action))

    return look_up


def _looked_up(shard: ShardIndex, rows: Array, table: _Table) -> Array:
    """Return the regrets of some rows; each pair of a situation and an action is looked up once."""
    key = "state_key" if table.by_state else "info_key"
    columns = read_columns(shard.folder, "decisions", shard.number, (key, "action")).take(rows)
    keys, actions = (columns[name].combine_chunks().dictionary_encode() for name in (key, "action"))
    names, moves = keys.dictionary.to_pylist(), actions.dictionary.to_pylist()
    move = actions.indices.fill_null(len(moves)).to_numpy().astype(np.int64)
    seats = np.full(len(rows), -1) if table.by_state else shard.seat[rows].astype(np.int64)
    code = (keys.indices.to_numpy().astype(np.int64) * (len(moves) + 1) + move) * 256 + seats + 1
    distinct, place = np.unique(code, return_inverse=True)
    found = np.full(len(distinct), np.nan)
    for number, one in enumerate(distinct.tolist()):
        rest, seat = divmod(one, 256)
        situation, action = divmod(rest, len(moves) + 1)
        if action < len(moves):
            found[number] = table.regrets.get((seat - 1, names[situation], moves[action]), np.nan)
    return found[place]


@lru_cache(maxsize=16)
def table_of_regrets(text: str) -> _Table:
    """Return an empty table of regrets of a game."""
    game = make_bounded_game(text)
    if game.spec.seats == 2 and game.spec.perfect_information and game.twin() is not None:
        return _Table(by_state=True, regrets=_of_perfect_play(game))
    return _on_tree(game)


def _on_tree(game: Game[Any]) -> _Table:
    equilibrium = equilibrium_of_game(game)
    oracle, by_state = oracle_of_game(game), game.spec.independent_rounds > 0
    tree = oracle.tree
    regrets = action_regrets(oracle, equilibrium)
    table = {}
    for number, known in enumerate(tree.information_sets):
        seat, key = (-1, known.view.state_key) if by_state else (known.seat, known.view.info_key)
        for place, action in enumerate(known.actions):
            table[seat, key, action] = float(regrets[int(tree.slots[number]) + place])
    return _Table(by_state, table)


def _of_perfect_play(game: Game[Any]) -> dict[Key, float]:
    """Return the regret of each action in each situation that can be reached.

    A game that ends after some number of moves has situations of one key with several values: they have no regret here.
    """
    values, found = solve(game), dict[str, dict[str, float]]()
    unlike = set[str]()
    nodes = ((state, values.twin.node(state)) for _, state in starts(game))
    for _, (state, node) in walk_positions(nodes, partial(_next_nodes, values.twin), _key_of_node):
        by_action = values.action_values(node)
        best = max(by_action.values())
        regrets = {action: best - value for action, value in by_action.items()}
        key = state.view(state.to_act[0]).state_key
        if found.setdefault(key, regrets) != regrets:
            unlike.add(key)
        if len(found) > _SITUATIONS:
            raise CannotCompute(f"{game.spec.name} has more than {_SITUATIONS:,} situations, so regrets are not known.")
    return {
        (-1, key, action): regret
        for key, regrets in found.items()
        if key not in unlike
        for action, regret in regrets.items()
    }


def _next_nodes(twin: Twin, position: tuple[State[Any], Node]) -> Iterator[tuple[State[Any], Node]]:
    """Yield the positions after one, each with OpenSpiel's."""
    return ((after, twin.node(after)) for after, _ in successors(position[0]) if not after.over)


def _key_of_node(position: tuple[State[Any], Node]) -> tuple[int, str]:
    state, node = position
    return node.move_number(), state.view(state.to_act[0]).state_key
