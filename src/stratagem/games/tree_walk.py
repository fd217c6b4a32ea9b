"""Walk of a game: its tree, once through views, choices and enumerated chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from stratagem.errors import CannotCompute
from stratagem.games.base import Game, Seat, State
from stratagem.games.enumeration import outcomes, starts
from stratagem.games.key import Key
from stratagem.games.tree import CHANCE, TERMINAL, GameTree, InformationSet
from stratagem.games.tree_size import estimated_size, listed

BUDGET = 500_000
"""Largest number of nodes: some ten seconds."""
_REPORT_EVERY = 10_000
"""Nodes between two reports of progress."""
Progress = Callable[[int], None]
"""Receiver of the number of nodes so far."""
_Recall = tuple[tuple[int, int] | None, ...]
"""By seat: its last information set, and the action there."""


class _Node(NamedTuple):
    """Node whose children are still to be walked."""

    parent: int
    choice: int
    probability: float
    returns: tuple[float, ...]
    rounds: int
    recall: _Recall
    state: State[Any] | None
    """State before the move; None at a chance node."""
    chosen: tuple[str, ...] = ()
    """Actions of the seats that chose before in the same move."""
    branches: Sequence[_Branch] = ()
    """Outcomes at a chance node."""


class _Branch(NamedTuple):
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


class _Walk:
    """Walk of a tree, depth by depth."""

    def __init__(self, game: Game[Any], budget: int, progress: Progress | None) -> None:
        self.game = game
        self.budget = budget
        self.progress = progress
        self.sets: list[InformationSet] = []
        self._set_numbers: dict[tuple[Seat, tuple[int, int] | None, str], int] = {}
        self.num_nodes = 1

    def tree(self) -> GameTree:
        """Walk the whole game."""
        import numpy as np

        layer, depths = [self._root()], [0]
        rows: list[_Row] = []
        probabilities: list[float] = []
        returns: list[tuple[float, ...]] = []
        while layer:
            later: list[_Node] = []
            for node in layer:
                mover, information_set, children = self._expanded(node, len(rows))
                first = depths[-1] + len(layer) + len(later)
                rows.append(_Row(node.parent, mover, information_set, node.choice, first, len(children), node.rounds))
                probabilities.append(node.probability)
                returns.append(node.returns)
                later += children
            depths.append(len(rows))
            layer = later
        columns = dict(zip(_Row._fields, np.array(rows, dtype=np.int64).T.copy(), strict=True))
        return GameTree(
            game=self.game,
            **columns,
            probability=np.array(probabilities),
            returns=np.array(returns),
            depths=np.array(depths),
            information_sets=tuple(self.sets),
        )

    def _root(self) -> _Node:
        seats = self.game.spec.seats
        zeros = (0.0,) * seats
        branches = [_Branch(chance, state, zeros, False) for chance, state in starts(self.game)]
        return self._reached(-1, 0, branches, zeros, 0, (None,) * seats)

    def _expanded(self, node: _Node, index: int) -> tuple[int, int, list[_Node]]:
        """Return the mover of a node, its information set and its children."""
        if node.state is None:
            return CHANCE, -1, list(self._outcomes(node, index))
        if node.state.over:
            return TERMINAL, -1, []
        seat = node.state.to_act[len(node.chosen)]
        number = self._information_set(seat, node)
        return seat, number, list(self._moves(node, index, seat, number))

    def _outcomes(self, node: _Node, index: int) -> Iterator[_Node]:
        for choice, branch in enumerate(node.branches):
            self._count()
            yield self._settled(index, choice, branch, branch.probability, node.returns, node.rounds, node.recall)

    def _moves(self, node: _Node, index: int, seat: Seat, number: int) -> Iterator[_Node]:
        state = node.state
        assert state is not None
        for choice, action in enumerate(self.sets[number].actions):
            self._count()
            recall = (*node.recall[:seat], (number, choice), *node.recall[seat + 1 :])
            chosen = (*node.chosen, action)
            if len(chosen) < len(state.to_act):
                yield _Node(index, choice, 1.0, node.returns, node.rounds, recall, state, chosen)
                continue
            branches = [
                _Branch(chance, after, result.payoffs, result.closed)
                for chance, after, result in outcomes(state, dict(zip(state.to_act, chosen, strict=True)))
            ]
            yield self._reached(index, choice, branches, node.returns, node.rounds, recall)

    def _reached(
        self,
        parent: int,
        choice: int,
        branches: Sequence[_Branch],
        returns: tuple[float, ...],
        rounds: int,
        recall: _Recall,
    ) -> _Node:
        """Return the node after a move: a chance node, unless there is one outcome."""
        if len(branches) == 1:
            return self._settled(parent, choice, branches[0], 1.0, returns, rounds, recall)
        return _Node(parent, choice, 1.0, returns, rounds, recall, None, (), branches)

    def _settled(
        self,
        parent: int,
        choice: int,
        branch: _Branch,
        probability: float,
        returns: tuple[float, ...],
        rounds: int,
        recall: _Recall,
    ) -> _Node:
        """Return the node of a state that was reached."""
        summed = tuple(before + payoff for before, payoff in zip(returns, branch.payoffs, strict=True))
        return _Node(parent, choice, probability, summed, rounds + branch.closed, recall, branch.state)

    def _information_set(self, seat: Seat, node: _Node) -> int:
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
            self.sets.append(InformationSet(seat, view, node.state, tuple(listed(view)), before))
        return number

    def _count(self) -> None:
        self.num_nodes += 1
        if self.num_nodes > self.budget:
            raise CannotCompute(_too_large(self.game, "too many", self.budget))
        if self.progress is not None and self.num_nodes % _REPORT_EVERY == 0:
            self.progress(self.num_nodes)


def walk(game: Game[Any], budget: int = BUDGET, progress: Progress | None = None) -> GameTree:
    """Walk a game; refused beyond `budget` nodes, and where chance cannot be enumerated."""
    if (size := estimated_size(game, Key(0))) > budget:
        raise CannotCompute(_too_large(game, f"about {size:.0e}", budget))
    return _Walk(game, budget, progress).tree()


def _too_large(game: Game[Any], size: str, budget: int) -> str:
    return (
        f"The tree of {game.spec.name} has {size} nodes, beyond the budget of {budget:,}: raise "
        "`exact_budget`, or make the game smaller by its options."
    )
