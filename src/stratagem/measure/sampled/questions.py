"""Questions to a player: the information sets of a game tree, those that it cannot tell apart as one.

A policy of the player has one row a question. The slots of a question are its actions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stratagem.games.tree import GameTree
from stratagem.games.tree_sets import InformationSet
from stratagem.measure.policies import merges
from stratagem.players.base import Player

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeQuestions:
    """Questions of a tree, and their place in it."""

    tree: GameTree
    sets: Sequence[InformationSet]
    """First information set of each question, as it is in rounds of the first kind."""
    of_set: Ints
    """Question of each information set of the tree."""

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def slots(self) -> Ints:
        """First slot of each question among the slots of all, and their number."""
        return np.cumsum([0, *(len(known.actions) for known in self.sets)])

    def asked_in(self, question: int, number: int) -> InformationSet:
        """Return the information set of a question as it is in the round of a number."""
        number %= self.tree.game.spec.independent_rounds or 1
        kind = next(kind for kind in self.tree.kinds if number in kind.numbers)
        return kind.sets[int(self._first[question])]

    @cached_property
    def _first(self) -> Ints:
        """Number in the tree of the first information set of each question."""
        return np.unique(self.of_set, return_index=True)[1]

    @cached_property
    def num_actions(self) -> Ints:
        """Number of actions of each question."""
        return np.diff(self.slots)

    @cached_property
    def seats(self) -> Ints:
        """Seat that is asked each question."""
        return np.array([known.seat for known in self.sets])

    @cached_property
    def in_tree(self) -> Ints:
        """Slot of a question for each slot of the tree."""
        tree = self.tree
        within = np.arange(len(tree.set_of_slot)) - tree.slots[tree.set_of_slot]
        return self.slots[self.of_set[tree.set_of_slot]] + within

    def sums(self, by_slot: Floats) -> Floats:
        """Add the values of the slots of each question."""
        result: Floats = np.add.reduceat(by_slot, self.slots[:-1])
        return result

    def spread(self, by_question: Floats) -> Floats:
        """Repeat the value of each question for each of its slots."""
        result: Floats = np.repeat(by_question, self.num_actions)
        return result


def questions_of(tree: GameTree, player: Player) -> TreeQuestions:
    """Return the questions of a tree to one player."""
    first: dict[Hashable, int] = {}
    sets: list[InformationSet] = []
    of_set = []
    together = merges(tree.game, player)
    for known in tree.information_sets:
        number = first.setdefault(_seen_facts(known, together=together), len(sets))
        if number == len(sets):
            sets.append(known)
        of_set.append(number)
    return TreeQuestions(tree, sets, np.array(of_set, dtype=np.int64))


def _seen_facts(known: InformationSet, *, together: bool) -> Hashable:
    """Return what the player can tell of a situation: with a short memory, its last round only."""
    view = known.view
    return (known.seat, known.state.round, view.state_key) if together else (known.seat, view.info_key)
