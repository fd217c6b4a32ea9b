"""Walk of a game: its tree, once through views, choices and enumerated chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from operator import itemgetter
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Seat, State
from stratagem.games.enumeration import outcomes, starts, walk_positions
from stratagem.games.key import Key
from stratagem.games.rounds import round_outcomes, round_starts, shares_of_rounds
from stratagem.games.tree import CHANCE, TERMINAL, GameTree, InformationSet, RoundKind
from stratagem.games.tree_size import estimated_size, list_choices

BUDGET = 500_000
"""Largest number of nodes: some ten seconds."""
_REPORT_EVERY = 10_000
"""Nodes between two reports of progress."""
Progress = Callable[[int], None]
"""Receiver of the number of nodes so far."""
_Recall = tuple[tuple[int, int] | None, ...]
"""By seat: its last information set, and the action there."""


class _WalkNode(NamedTuple):
    """Node whose children are still to be walked."""

    parent: int
    choice: int
    probability: float
    returns: tuple[float, ...]
    rounds: int
    recall: _Recall
    turn: int
    state: State[Any] | None
    """State before the move; None at a chance node."""
    chosen: tuple[str, ...] = ()
    """Actions of the seats that chose before in the same move."""
    branches: Sequence[_Outcome] = ()
    """Outcomes at a chance node."""


class _Outcome(NamedTuple):
    """Outcome of a move, or a start of the game."""

    probability: float
    state: State[Any]
    payoffs: tuple[float, ...]
    closed: bool


class _Row(NamedTuple):
    """Integers of a node, in the order of the tree's columns."""

    parent: int
    mover: int
    information_set: int
    choice: int
    first_child: int
    num_children: int
    rounds: int


class _TreeWalk:
    """Walk of a tree, depth by depth: of a whole game, or of one of its rounds."""

    def __init__(self, game: Game[Any], budget: int, progress: Progress | None, number: int | None) -> None:
        self.game = game
        self.number = number
        self.budget = budget
        self.progress = progress
        self.sets: list[InformationSet] = []
        self._set_numbers: dict[tuple[Seat, tuple[int, int] | None, str], int] = {}
        self.num_nodes = 1

    def tree(self) -> GameTree:
        """Walk the game, or the round."""
        import numpy as np

        rows: list[_Row] = []
        probabilities: list[float] = []
        returns: list[tuple[float, ...]] = []
        depths: list[int] = []

        def follow(node: _WalkNode) -> list[_WalkNode]:
            first = self.num_nodes
            mover, information_set, children = self._expand_node(node, len(rows))
            rows.append(_Row(node.parent, mover, information_set, node.choice, first, len(children), node.rounds))
            return children

        for number, (depth, node) in enumerate(walk_positions([self._root()], follow)):
            if depth == len(depths):
                depths.append(number)
            probabilities.append(node.probability)
            returns.append(node.returns)
        depths.append(len(rows))
        columns = dict(zip(_Row._fields, np.array(rows, dtype=np.int64).T.copy(), strict=True))
        return GameTree(
            game=self.game,
            **columns,
            probability=np.array(probabilities),
            returns=np.array(returns),
            depths=np.array(depths),
            kinds=(RoundKind(1.0, (0,), tuple(self.sets)),),
        )

    def _root(self) -> _WalkNode:
        seats = self.game.spec.seats
        zeros = (0.0,) * seats
        first = starts(self.game) if self.number is None else round_starts(self.game, self.number)
        branches = [_Outcome(chance, state, zeros, False) for chance, state in first]
        return self._reach_node(-1, 0, branches, zeros, 0, (None,) * seats, 0)

    def _expand_node(self, node: _WalkNode, index: int) -> tuple[int, int, list[_WalkNode]]:
        """Return the mover of a node, its information set and its children."""
        if node.state is None:
            return CHANCE, -1, list(self._outcomes(node, index))
        if node.state.over or (self.number is not None and node.rounds > 0):
            return TERMINAL, -1, []
        seat = node.state.to_act[len(node.chosen)]
        number = self._information_set(seat, node)
        return seat, number, list(self._moves(node, index, seat, number))

    def _outcomes(self, node: _WalkNode, index: int) -> Iterator[_WalkNode]:
        for choice, branch in enumerate(node.branches):
            self._count()
            yield self._settle_node(
                index, choice, branch, branch.probability, node.returns, node.rounds, node.recall, node.turn
            )

    def _moves(self, node: _WalkNode, index: int, seat: Seat, number: int) -> Iterator[_WalkNode]:
        state = node.state
        assert state is not None
        for choice, action in enumerate(self.sets[number].actions):
            self._count()
            recall = (*node.recall[:seat], (number, choice), *node.recall[seat + 1 :])
            chosen = (*node.chosen, action)
            if len(chosen) < len(state.to_act):
                yield _WalkNode(index, choice, 1.0, node.returns, node.rounds, recall, node.turn, state, chosen)
                continue
            actions = dict(zip(state.to_act, chosen, strict=True))
            followed = outcomes(state, actions) if self.number is None else round_outcomes(state, actions)
            branches = [_Outcome(chance, after, result.payoffs, result.closed) for chance, after, result in followed]
            yield self._reach_node(index, choice, branches, node.returns, node.rounds, recall, node.turn + 1)

    def _reach_node(
        self,
        parent: int,
        choice: int,
        branches: Sequence[_Outcome],
        returns: tuple[float, ...],
        rounds: int,
        recall: _Recall,
        turn: int,
    ) -> _WalkNode:
        """Return the node after a move: a chance node, unless there is one outcome."""
        if len(branches) == 1:
            return self._settle_node(parent, choice, branches[0], 1.0, returns, rounds, recall, turn)
        return _WalkNode(parent, choice, 1.0, returns, rounds, recall, turn, None, (), branches)

    def _settle_node(
        self,
        parent: int,
        choice: int,
        branch: _Outcome,
        probability: float,
        returns: tuple[float, ...],
        rounds: int,
        recall: _Recall,
        turn: int,
    ) -> _WalkNode:
        """Return the node of a state that was reached."""
        summed = tuple(before + payoff for before, payoff in zip(returns, branch.payoffs, strict=True))
        return _WalkNode(parent, choice, probability, summed, rounds + branch.closed, recall, turn, branch.state)

    def _information_set(self, seat: Seat, node: _WalkNode) -> int:
        """Return the number of the information set of the seat to move; a new one where it was not met before."""
        assert node.state is not None
        view = node.state.view(seat)
        before = node.recall[seat]
        key = (seat, before, view.info_key)
        number = self._set_numbers.setdefault(key, len(self.sets))
        if number == len(self.sets):
            if view.choices.is_open:
                raise CannotCompute(
                    f"{self.game.spec.name} has open text, so its tree has no end: leave out the `limit` of talk."
                )
            self.sets.append(InformationSet(seat, view, node.state, tuple(list_choices(view)), before, node.turn))
        return number

    def _count(self) -> None:
        self.num_nodes += 1
        if self.num_nodes > self.budget:
            raise CannotCompute(_too_large(self.game, "too many", self.budget))
        if self.progress is not None and self.num_nodes % _REPORT_EVERY == 0:
            self.progress(self.num_nodes)


def walk(
    game: Game[Any], budget: int = BUDGET, progress: Progress | None = None, *, one_round: bool = False
) -> GameTree:
    """Walk a game; refused beyond `budget` nodes, and where chance cannot be enumerated.

    `one_round`: walk one round of a game whose rounds know nothing of each other, and any other game as a whole.
    """
    one_round = one_round and game.spec.independent_rounds > 0
    if (size := estimated_size(game, Key(0), one_round=one_round)) > budget:
        raise CannotCompute(_too_large(game, f"about {size:.0e}", budget))
    if not one_round:
        return _TreeWalk(game, budget, progress, None).tree()
    tree = _TreeWalk(game, budget, progress, 0).tree()
    return replace(tree, kinds=_kinds(tree, budget, progress))


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


def _too_large(game: Game[Any], size: str, budget: int) -> str:
    return (
        f"The tree of {game.spec.name} has {size} nodes, beyond the budget of {budget:,}: raise the "
        "`effort` of the method exact (in recipes `exact_budget`), or make the game smaller by its options."
    )
