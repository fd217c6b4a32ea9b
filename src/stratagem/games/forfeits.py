"""Game tree in which a seat may give no legal reply, in a game that is lost by it.

Each node of a seat gets a last child, the end of the game that the rules declare for a seat without a legal action
(`on_illegal = "forfeit"`). So each information set has one more action, `FORFEIT`, by which a best response and an
expected payoff count illegal replies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, State, View
from stratagem.games.tree import TERMINAL, GameTree
from stratagem.games.tree_sets import InformationSets, SetColumns

FORFEIT = "(no legal reply)"
"""Last action of each information set of such a tree; no reply can name it."""
Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


def can_forfeit(game: Game[Any]) -> bool:
    """Return whether a seat loses the game by an illegal reply, whatever happened before.

    Seats that move at once could be silent together, and where payoffs do not add up to a constant what the others get
    depends on the game so far.
    """
    spec = game.spec
    return spec.on_illegal == "forfeit" and not spec.simultaneous and spec.utility in ("zero-sum", "constant-sum")


def add_forfeits(tree: GameTree) -> GameTree:
    """Return the tree with a forfeit at each node of a seat."""
    if not can_forfeit(tree.game):
        raise CannotCompute(f"{tree.game.spec.name} is not always lost by an illegal reply.")
    order, parent, choice, depths = _nodes(tree)
    forfeit = order < 0
    old = np.where(forfeit, 0, order)
    new_of_old = np.zeros(len(tree), dtype=np.int64)
    new_of_old[order[~forfeit]] = np.flatnonzero(~forfeit)
    mover = np.where(forfeit, TERMINAL, tree.mover[old]).astype(tree.mover.dtype)
    num_children = np.where(forfeit, 0, tree.num_children[old] + (tree.mover[old] >= 0))
    first_child = np.cumsum(num_children) - num_children + 1  # each child stands behind those of the nodes before
    loser = tree.mover[order[parent]]
    information_set = np.where(forfeit, -1, tree.information_set[old])
    sets = tree.information_sets
    columns = replace(
        sets.columns,
        before=np.where(sets.columns.before >= 0, sets.columns.before + tree.set_of_slot[sets.columns.before], -1),
        node=new_of_old[sets.columns.node],
        options=[one._replace(actions=(*one.actions, FORFEIT)) for one in sets.columns.options],
    )
    return GameTree(
        game=tree.game,
        parent=parent,
        mover=mover,
        information_set=information_set,
        choice=choice,
        probability=np.where(forfeit, 1.0, tree.probability[old]),
        first_child=np.where(num_children > 0, first_child, 0),
        num_children=num_children,
        returns=np.where(forfeit[:, None], _lost_games(tree)[np.maximum(loser, 0)], tree.returns[old]),
        rounds=np.where(forfeit, tree.rounds[order[parent]] + 1, tree.rounds[old]),
        depths=depths,
        information_sets=_ForfeitSets.around(sets, columns, parent, choice, information_set),
        kinds=tree.kinds,
    )


def _nodes(tree: GameTree) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the old number of each node, -1 of a forfeit, its parent, its choice, and the first node of each depth."""
    level, first = np.zeros(1, dtype=np.int64), 0
    orders, parents, choices = [level], [np.full(1, int(tree.parent[0]))], [np.asarray(tree.choice[:1], np.int64)]
    while True:
        inner = level >= 0
        seats = inner & (tree.mover[level] >= 0)
        counts = np.where(inner, tree.num_children[level], 0) + seats
        if not counts.any():
            depths = np.cumsum([0, *map(len, orders)])
            return np.concatenate(orders), np.concatenate(parents), np.concatenate(choices), depths
        place = np.repeat(np.arange(len(level)), counts)
        offset = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        above = level[place]
        forfeit = offset == tree.num_children[above]  # only a seat's node has a child behind its own
        below = np.where(forfeit, -1, tree.first_child[above] + offset)
        parents.append(first + place)
        choices.append(np.where(forfeit, offset, tree.choice[np.maximum(below, 0)]))
        first, level = first + len(level), below
        orders.append(level)


def _lost_games(tree: GameTree) -> Floats:
    """Return the returns by the seat that forfeits, as the rules pay them at its first and its last information set."""
    rows = []
    for seat in range(tree.game.spec.seats):
        numbers = np.flatnonzero(tree.information_sets.columns.seat == seat)
        first, last = (_returns_after(tree, int(number), seat) for number in (numbers[0], numbers[-1]))
        if not np.allclose(first, last):
            raise CannotCompute(f"What an illegal reply costs in {tree.game.spec.name} depends on the game so far.")
        rows.append(first)
    return np.array(rows)


def _returns_after(tree: GameTree, number: int, seat: Seat) -> Floats:
    state = tree.information_sets[number].state.fork()
    node = int(tree.information_sets.columns.node[number])
    result: Floats = tree.returns[node] + np.array(state.play({seat: None}).payoffs)
    return result


@dataclass(frozen=True, eq=False)
class _ForfeitSets(InformationSets):
    """Information sets with the forfeit as a last action; their views are those of the sets without it."""

    plain: InformationSets | None = None

    @classmethod
    def around(
        cls, sets: InformationSets, columns: SetColumns, parent: Ints, choice: Ints, information_set: Ints
    ) -> _ForfeitSets:
        """Return the sets of a tree with forfeits."""
        return cls(sets.game, sets.round_number, columns, parent, choice, information_set, plain=sets)

    def shown(self, number: int) -> tuple[State[Any], View[Any]]:
        assert self.plain is not None
        return self.plain.shown(number)
