"""Walk of a game: its tree in columns, once through positions, choices and enumerated chance.

The walk goes by depth first, so that few positions are alive at a time, and writes by breadth: the children of a node
are written together, behind all that were written before in their depth.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from stratagem.base.errors import CannotCompute
from stratagem.base.garbage import fewer_collections
from stratagem.games.base import Game, Place, Position, Seat, SetOptions
from stratagem.games.key import Key
from stratagem.games.positions import places_after, positions_of
from stratagem.games.rounds import shares_of_rounds
from stratagem.games.tree import CHANCE, TERMINAL, GameTree, RoundKind
from stratagem.games.tree_sets import InformationSet, InformationSets, SetColumns
from stratagem.games.tree_size import estimated_size

if TYPE_CHECKING:
    from stratagem.games.tree_sets import Ints

BUDGET = 2_000_000
"""Largest number of nodes: some ten seconds and 300 MB."""
QUICK = 500_000
"""Largest number where somebody waits, or where there is another way than a tree: a second or two."""
_FIRST_EPISODES, _FAR = 10, 50
"""Episodes of the first estimate of a size, and the factor that it must be below the budget to be enough."""
NODES_BETWEEN_REPORTS = 10_000
"""Nodes between two reports of progress."""
Progress = Callable[[int], None]
"""Receiver of the number of nodes so far."""
_Recall = tuple[int, ...]
"""By seat: slot of its last action, in the order of the walk; below 0 before its first."""
_Pending = tuple[Place, int, _Recall, int, int]
"""Node whose children are still to be walked: its information set or CHANCE, the recall, the turns and its depth."""


class _DepthColumns:
    """Nodes of one depth, in columns."""

    __slots__ = ("chance", "kind", "num_outcomes", "returns", "rounds")

    def __init__(self) -> None:
        self.kind = array("i")
        """Information set by the order of the walk, CHANCE or TERMINAL."""
        self.num_outcomes = array("i")
        """Number of outcomes of each chance node."""
        self.chance = array("d")
        self.returns = array("d")
        self.rounds = array("i")


class _MetSets:
    """Information sets in the order in which the walk meets them."""

    def __init__(self) -> None:
        self.number: dict[tuple[int, str], int] = {}
        """By the slot of the seat's last action before the set, and the key of its view."""
        self.seat = array("b")
        self.before = array("i")
        """Slot of the seat's last action before the set, in the order of the walk; below 0 at its first."""
        self.depth = array("i")
        self.place = array("i")
        """Number of the first node among those of its depth."""
        self.turn = array("i")
        self.option = array("i")
        self.slot = array("i")
        """First slot."""
        self.num_slots = 0
        self.options: dict[SetOptions, int] = {}
        self.played: list[tuple[Seat, int, tuple[Any, ...]]] = []
        """Seat, first slot and moves of each set."""

    def add(self, seat: Seat, before: int, options: SetOptions, met: tuple[int, int, int]) -> None:
        """Add a set, met at this depth, place and turn."""
        option = self.options.setdefault(options, len(self.options))
        self.played.append((seat, self.num_slots, options.moves))
        self.seat.append(seat)
        self.before.append(before)
        self.option.append(option)
        self.slot.append(self.num_slots)
        self.num_slots += len(options.actions)
        for column, value in zip((self.depth, self.place, self.turn), met, strict=True):
            column.append(value)


class _TreeWalk:
    """Walk of a tree: of a whole game, or of one of its rounds."""

    def __init__(self, game: Game[Any], budget: int, progress: Progress | None, number: int | None) -> None:
        self.game = game
        self.number = number
        self.budget = budget
        self.progress = progress
        self.positions = positions_of(game, number)
        self.sets = _MetSets()
        self.layers: list[_DepthColumns] = []
        self.pending: list[_Pending] = []
        self.num_nodes = 0

    def tree(self) -> GameTree:
        """Walk the game, or the round."""
        nobody = tuple(-1 - seat for seat in range(self.game.spec.seats))
        root: Place = ([(1.0, self.positions.start())], None, (), (), 0)
        self.pending.append((root, CHANCE, nobody, 0, 0))
        with fewer_collections():  # a walk makes many objects that live for long, and few cycles
            while self.pending:
                self._write_children(self.pending.pop())
        return self._assemble()

    def _write_children(self, node: _Pending) -> None:
        """Write the children of a node in their depth, and keep those that have children themselves for later.

        It runs once for every node with children, so what it needs is at hand in local names.
        """
        place, kind, recall, turn, depth = node
        if depth == len(self.layers):
            self.layers.append(_DepthColumns())
        layer, same = self.layers[depth], -1
        if kind == CHANCE:
            children: Sequence[Place] = [child for _, child in place[0]]
            layer.chance.extend([chance for chance, _ in place[0]])
            mover, slot = -1, 0
        else:
            mover, slot, moves = self.sets.played[kind]
            children = places_after(self.positions, place, moves)
            layer.chance.extend([1.0] * len(moves))
            turn += len(place[2]) + 1 == len(place[1] or ())
        known, depth_of, key = self.sets.number, self.sets.depth, self.positions.key
        before, after = recall[:mover], recall[mover + 1 :]
        fresh: list[_Pending] = []
        kinds: list[int] = []
        for child in children:
            at, to_act, chosen, returns, _ = child
            kind = TERMINAL
            if to_act or to_act is None:
                own = (*before, slot, *after) if mover >= 0 else recall
                if to_act:
                    kind = same
                    if kind < 0:
                        seat = to_act[len(chosen)]
                        name = (own[seat], key(at, seat))
                        kind = known.get(name, -1)
                        if kind < 0 or depth_of[kind] > depth:
                            kind = self._meet(seat, name, at, (depth, len(layer.kind) + len(kinds), turn))
                        if chosen:  # the children differ by a choice that their seat does not see
                            same = kind
                else:
                    kind = CHANCE
                    layer.num_outcomes.append(len(at))
                fresh.append((child, kind, own, turn, depth + 1))
            kinds.append(kind)
            layer.returns.extend(returns)
            slot += 1
        layer.kind.extend(kinds)
        layer.rounds.extend([child[4] for child in children])
        fresh.reverse()
        self.pending += fresh
        self._count(len(children))

    def _meet(self, seat: Seat, name: tuple[int, str], at: Position, met: tuple[int, int, int]) -> int:
        """Return the number of a set that is new, or whose nodes until now stand deeper in the tree."""
        sets = self.sets
        number = sets.number.setdefault(name, len(sets.seat))
        if number == len(sets.seat):
            sets.add(seat, name[0], self.positions.options(at, seat), met)
        else:
            sets.depth[number], sets.place[number], sets.turn[number] = met
        return number

    def _assemble(self) -> GameTree:
        """Return the tree, its nodes and its information sets in the order of a walk by breadth."""
        import numpy as np

        self.sets.number.clear()  # the texts of all keys
        sets, depths = self.sets, np.cumsum([0, *(len(layer.kind) for layer in self.layers)])
        first_node = depths[np.asarray(sets.depth)] + np.asarray(sets.place)
        order = np.argsort(first_node).astype(np.int32)
        number = np.empty_like(order)
        number[order] = np.arange(len(order), dtype=np.int32)
        option = np.asarray(sets.option)
        sizes = np.array([len(one.moves) for one in sets.options], dtype=np.int32)[option]
        kind = self._column("kind")
        acting, drawing = kind >= 0, kind == CHANCE
        num_children = np.zeros(len(kind), dtype=np.int32)
        num_children[acting] = sizes[kind[acting]]
        num_children[drawing] = self._column("num_outcomes")
        first_child = (1 + np.cumsum(num_children) - num_children).astype(np.int32)
        parent = np.concatenate([[-1], np.repeat(np.arange(len(kind)), num_children)]).astype(np.int32)
        choice = np.arange(len(kind), dtype=np.int32) - first_child[parent]
        choice[0] = 0
        information_set = np.where(acting, number[np.where(acting, kind, 0)], -1).astype(np.int32)
        mover = kind.astype(np.int8)
        mover[acting] = np.asarray(sets.seat)[kind[acting]]
        columns = SetColumns(
            seat=np.asarray(sets.seat)[order],
            before=_renumber_slots(np.asarray(sets.before)[order], np.asarray(sets.slot), sizes, number),
            turn=np.asarray(sets.turn)[order],
            option=option[order],
            node=first_node[order].astype(np.int32),
            options=tuple(sets.options),
        )
        known = InformationSets(self.game, self.number, columns, parent, choice, information_set)
        return GameTree(
            game=self.game,
            parent=parent,
            mover=mover,
            information_set=information_set,
            choice=choice,
            probability=self._column("chance"),
            first_child=first_child,
            num_children=num_children,
            returns=self._column("returns").reshape(len(kind), -1),
            rounds=self._column("rounds"),
            depths=depths,
            information_sets=known,
            kinds=(RoundKind(1.0, (0,), known),),
        )

    def _column(self, name: str) -> Any:
        """Return a column of all nodes; the layers lose it."""
        import numpy as np

        parts = [np.asarray(getattr(layer, name)) for layer in self.layers]
        for layer in self.layers:
            delattr(layer, name)
        return np.concatenate(parts)

    def _count(self, more: int) -> None:
        before = self.num_nodes
        self.num_nodes += more
        if self.num_nodes > self.budget:
            raise CannotCompute(_too_large(self.game, "too many", self.budget))
        if self.progress is not None and self.num_nodes // NODES_BETWEEN_REPORTS > before // NODES_BETWEEN_REPORTS:
            self.progress(self.num_nodes)


def _renumber_slots(before: Ints, starts: Ints, sizes: Ints, number: Ints) -> Ints:
    """Return slots by the order of the walk as slots of the sets in their new order; -1 where there is none."""
    import numpy as np

    first = np.zeros(len(sizes), dtype=np.int64)
    first[number] = sizes
    first = np.cumsum(first) - first  # of each set in the new order
    earlier = np.searchsorted(starts, np.maximum(before, 0), side="right") - 1
    slots = first[number[earlier]] + before - starts[earlier]
    return np.where(before < 0, -1, slots).astype(np.int32)


def walk(
    game: Game[Any], budget: int = BUDGET, progress: Progress | None = None, *, one_round: bool = False
) -> GameTree:
    """Walk a game; refused beyond `budget` nodes, and where chance cannot be enumerated.

    `one_round`: walk one round of a game whose rounds know nothing of each other, and any other game as a whole.
    """
    one_round = one_round and game.spec.independent_rounds > 0
    if (size := _estimate(game, budget, one_round=one_round)) > budget:
        raise CannotCompute(_too_large(game, f"about {size:.0e}", budget))
    if not one_round:
        return _TreeWalk(game, budget, progress, None).tree()
    tree = _TreeWalk(game, budget, progress, 0).tree()
    return replace(tree, kinds=_kinds(tree, budget, progress))


def _estimate(game: Game[Any], budget: int, *, one_round: bool) -> float:
    """Return the estimated size; from a tenth of the episodes where by these it is far below the budget.

    All of them take longer than the walk of a small tree, which is broken off at the budget in any case.
    """
    first = estimated_size(game, Key(0), _FIRST_EPISODES, one_round=one_round)
    return first if first * _FAR <= budget else estimated_size(game, Key(0), one_round=one_round)


def _kinds(tree: GameTree, budget: int, progress: Progress | None) -> tuple[RoundKind, ...]:
    """Return the kinds of rounds of a game, of which the first was walked; those that show the same are one."""
    kinds: list[RoundKind] = []
    for number, share in enumerate(shares_of_rounds(tree.game)):
        other = _TreeWalk(tree.game, budget, progress, number).tree() if number else tree
        sets = _align_sets(tree, other, number)
        same = next((index for index, kind in enumerate(kinds) if _own_sets(kind.sets) == _own_sets(sets)), len(kinds))
        if same < len(kinds):
            known = kinds[same]
            kinds[same] = RoundKind(known.share + share, (*known.numbers, number), known.sets)
        else:
            kinds.append(RoundKind(share, (number,), sets))
    return tuple(kinds)


def _own_sets(sets: Sequence[InformationSet]) -> list[tuple[Seat, Any]]:
    return [(known.seat, known.view.facts) for known in sets]


def _align_sets(tree: GameTree, other: GameTree, number: int) -> Sequence[InformationSet]:
    """Return the information sets of another round in the order of a tree's own; its seats may have other parts."""
    if other is tree:
        return tree.information_sets
    numbers: dict[Hashable, int] = {
        (known.seat, known.view.info_key, known.actions, known.before): place
        for place, known in enumerate(tree.information_sets)
    }
    keys = [known.view.info_key for known in other.information_sets]
    means, theirs = _evenly(tree), _evenly(other)
    for parts in permutations(range(tree.game.spec.seats)):
        alike = all(math.isclose(means[part], mean, abs_tol=1e-9) for part, mean in zip(parts, theirs, strict=True))
        places = _places(numbers, other, keys, parts) if alike else []
        if sorted(places) == list(numbers.values()):
            return [known for _, known in sorted(zip(places, other.information_sets, strict=True), key=itemgetter(0))]
    raise CannotCompute(
        f"{tree.game.spec.name} declares `independent_rounds`, but its round {number + 1} is another game than its "
        "first: such rounds have the same keys, actions and payoffs."
    )


def _places(numbers: Mapping[Hashable, int], other: GameTree, keys: Sequence[str], parts: Sequence[Seat]) -> list[int]:
    """Return the number of each information set of another round, by the part of its seat; -1 where it has none."""
    places: list[int] = []
    for known, key in zip(other.information_sets, keys, strict=True):
        before = None if known.before is None else (places[known.before[0]], known.before[1])
        places.append(numbers.get((parts[known.seat], key, known.actions, before), -1))
    return places


def _evenly(tree: GameTree) -> list[float]:
    """Return the expected returns by seat where all actions are equally likely."""
    import numpy as np

    sizes = np.diff(tree.slots)
    return [float(value) for value in tree.expected_returns(np.repeat(1.0 / sizes, sizes))[0]]


def check_size(game: Game[Any], size: int, budget: int) -> None:
    """Refuse a tree with more nodes than the budget."""
    if size > budget:
        raise CannotCompute(_too_large(game, f"{size:,}", budget))


def _too_large(game: Game[Any], size: str, budget: int) -> str:
    return (
        f"The tree of {game.spec.name} has {size} nodes, beyond the budget of {budget:,}: raise the "
        "`effort` of the method exact (in recipes `exact_budget`), or make the game smaller by its options."
    )
