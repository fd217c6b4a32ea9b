"""Exact values of two-player constant-sum games of perfect information, by expectiminimax that merges equal positions.

Two positions are equal when their boards read the same, the same seat is to move and as many moves have been made, so
no line of play can come back to itself. Where a board does not tell what can happen next, as in go with its superko
rule, they are equal only when their histories are. Nothing is solved before it is asked for, and no more than the
budget allows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, Node, Seat, State, Twin
from stratagem.games.spiel.engine import CHANCE, TERMINAL, tells

BUDGET = 100_000
"""Largest number of new positions for one question: some seconds."""

Position = tuple[int, int, str]


class _WaitingPosition(NamedTuple):
    """A position that waits for its children: who moves, and the children with their probabilities (1 for moves)."""

    mover: int
    children: list[tuple[float, Position]]


class PositionValues:
    """Values of positions under perfect play, cached."""

    def __init__(self, game: Game[Any], twin: Twin, total: float, budget: int) -> None:
        self.game = game
        self.twin = twin
        self.total = total
        self.budget = budget
        self._tells = tells(twin.spiel)
        self._known: dict[Position, float] = {}
        """Value for seat 0 by position."""

    def value(self, where: State[Any] | Node, seat: Seat) -> float:
        """Return the value for `seat` when both play perfectly from here."""
        first = self._first(self._node(where))
        return first if seat == 0 else self.total - first

    def action_values(self, where: State[Any] | Node) -> dict[str, float]:
        """Return the values of the mover's actions under perfect play afterwards."""
        node = self._node(where)
        seat = node.current_player()
        return {self.twin.action(node, a): self.value(node.child(a), seat) for a in node.legal_actions()}

    def best(self, where: State[Any] | Node) -> list[str]:
        """Return the optimal actions."""
        return [action for action, regret in self.regrets(where).items() if regret < 1e-9]

    def regrets(self, where: State[Any] | Node) -> dict[str, float]:
        """Return the regret of each action, where a win is 1, a loss 0 and, between equal stakes, a draw one half."""
        values = self.action_values(where)
        low, high = self.game.spec.bounds
        best = max(values.values())
        return {action: (best - value) / (high - low) for action, value in values.items()}

    def _node(self, where: State[Any] | Node) -> Node:
        node = self.twin.node(where) if isinstance(where, State) else where
        if isinstance(where, State) and where.over:
            raise CannotCompute(f"This game of {self.game.spec.name} is over: nothing is left to be valued.")
        return node

    def _first(self, node: Node) -> float:
        position = self._position(node)
        if position not in self._known:
            self._solve(position, node)
        return self._known[position]

    def _solve(self, position: Position, node: Node) -> None:
        """Search depth first without recursion, since games may last longer than Python's stack."""
        stack, branches, seen = [(position, node)], dict[Position, _WaitingPosition](), 0
        while stack:
            position, node = stack[-1]
            if position in self._known:
                stack.pop()
            elif position in branches:
                self._known[position] = self._join_values(branches.pop(position))
            elif node.current_player() == TERMINAL:
                self._known[position] = node.returns()[0]
            else:
                seen += 1
                if seen > self.budget:
                    self._give_up()
                branches[position] = self._branch(node, stack)

    def _branch(self, node: Node, stack: list[tuple[Position, Node]]) -> _WaitingPosition:
        mover = node.current_player()
        moves = node.chance_outcomes() if mover == CHANCE else [(action, 1.0) for action in node.legal_actions()]
        children = []
        for action, probability in moves:
            child = node.child(action)
            position = self._position(child)
            children.append((probability, position))
            if position not in self._known:
                stack.append((position, child))
        return _WaitingPosition(mover, children)

    def _join_values(self, branch: _WaitingPosition) -> float:
        if branch.mover == CHANCE:
            return sum(probability * self._known[child] for probability, child in branch.children)
        values = (self._known[child] for _, child in branch.children)
        return max(values) if branch.mover == 0 else min(values)

    def _position(self, node: Node) -> Position:
        told = str(node) if self._tells else node.history_str()
        return node.move_number(), node.current_player(), told

    def _give_up(self) -> None:
        self._known.clear()
        name = self.game.spec.name
        raise CannotCompute(
            f"{name} is too large to be solved from here: there are more than {self.budget:,} positions."
        )


@lru_cache(maxsize=8)
def solve(game: Game[Any], budget: int = BUDGET) -> PositionValues:
    """Return the values of a game, shared by all callers; a game that this method cannot solve is refused."""
    spec, twin = game.spec, game.twin()
    if spec.seats != 2 or spec.utility not in ("zero-sum", "constant-sum") or not spec.perfect_information:
        raise CannotCompute(f"{spec.name} is no two-player constant-sum game of perfect information.")
    if twin is None:
        raise CannotCompute(f"{spec.name} is not known to OpenSpiel, so its positions cannot be walked.")
    return PositionValues(game, twin, float(twin.spiel.utility_sum()), budget)
