"""Gain of deviations from a policy, as a function of its rows, with its derivative.

For fixed responses j the mean gain over the seats is `1/n sum_i [u_i(j_i, p_-i) - u_i(p)]`, a polynomial in the
probabilities p that is linear in each information set's row. Its derivative says how much each reply of the player
counts. The value of a node is found from the leaves to the root, its reach from the root to the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stratagem.games.sequence_form import sum_by_place
from stratagem.games.tree import TERMINAL, GameTree
from stratagem.measure.sampled.questions import Floats, Ints, TreeQuestions
from stratagem.measure.tree_policy import Oracle

Responses = Sequence[Ints]
"""By seat: the slots of the tree that a responder plays."""


@dataclass(frozen=True, eq=False)
class ResponseGain:
    """Mean over the seats of what responders gain from a policy of the questions."""

    oracle: Oracle
    questions: TreeQuestions

    @property
    def tree(self) -> GameTree:
        """Game tree."""
        return self.oracle.tree

    @cached_property
    def _seats(self) -> Ints:
        """Seat of each slot of the tree."""
        return np.array([known.seat for known in self.tree.information_sets])[self.tree.set_of_slot]

    def best_responses(self, rows: Floats) -> Responses:
        """Return a best response of each seat to a policy."""
        policy = rows[self.questions.in_tree]
        return [self.oracle.best_response(policy, seat).slots for seat in range(self.tree.game.spec.seats)]

    def __call__(self, rows: Floats, responses: Responses) -> tuple[float, Floats]:
        """Return the mean gain a round, and its derivative by the slots of the questions."""
        tree, policy = self.tree, rows[self.questions.in_tree]
        own, slope = self._value(policy, tree.returns.sum(axis=1))
        total, slopes = -own, -slope
        for seat, slots in enumerate(responses):
            played = np.where(self._seats == seat, 0.0, policy)
            played[slots] = 1.0
            value, slope = self._value(played, tree.returns[:, seat])
            total += value
            slopes += np.where(self._seats == seat, 0.0, slope)
        seats, (length, lengthens) = tree.game.spec.seats, self._length(policy)
        gain = total / (seats * length)
        by_slot = (slopes / seats - gain * lengthens) / length
        return gain, sum_by_place(self.questions.in_tree, by_slot, self.questions.slots[-1])

    def _length(self, policy: Floats) -> tuple[float, Floats]:
        """Return the expected number of rounds, and its derivative by the slots of the tree."""
        if self._fixed_length:
            return self._fixed_length, np.zeros(len(policy))
        return self._value(policy, self.tree.rounds.astype(np.float64))

    @cached_property
    def _fixed_length(self) -> float:
        """Number of rounds of every episode; 0 where it varies."""
        lengths = set(self.tree.rounds[self.tree.mover == TERMINAL].tolist())
        return float(lengths.pop()) if len(lengths) == 1 else 0.0

    def _value(self, policy: Floats, payoffs: Floats) -> tuple[float, Floats]:
        """Return the expected payoff under a policy of all seats, and its derivative by the slots of the tree."""
        tree = self.tree
        values, reach = tree.values(policy, payoffs), tree.reach(policy)
        moved = tree.slot >= 0
        slopes = sum_by_place(tree.slot[moved], reach[tree.parent[moved]] * values[moved], len(policy))
        return float(values[0]), slopes
